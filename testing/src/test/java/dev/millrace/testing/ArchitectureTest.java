package dev.millrace.testing;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import org.junit.jupiter.api.Test;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.testing");
    }

    @Override
    protected boolean mayPrint() {
        return true; // what a test did not check has to be seen
    }

    @Test
    void shouldKnowNoService() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.millrace.agent..",
                        "dev.millrace.tools..",
                        "dev.millrace.gateway..",
                        "dev.millrace.standalone..")
                .because("every service's tests use it")
                .check(classes);
    }

    @Test
    void shouldUseQuarkusInOnePlaceOnly() {
        noClasses()
                .that()
                .doNotHaveSimpleName("BrokerResource")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.quarkus..")
                .because("tests without Quarkus do not have it on their class path")
                .check(classes);
    }
}
