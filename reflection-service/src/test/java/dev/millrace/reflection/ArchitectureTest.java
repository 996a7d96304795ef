package dev.millrace.reflection;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import dev.millrace.testing.HouseRules;
import java.time.Clock;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.reflection");
    }

    @Test
    void shouldKeepTheRulesPure() {
        classes()
                .that()
                .resideInAPackage("..core..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("java.lang..", "java.util..", "org.jspecify..", "dev.millrace.reflection.core..")
                .because("what memory does can be tested by calling a function")
                .check(classes);
        noClasses()
                .that()
                .resideInAPackage("..core..")
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Clock.class, Instant.class, java.util.UUID.class, java.util.Random.class)
                .because("time and ids come in with the event")
                .check(classes);
    }

    @Test
    void shouldKnowNoOtherService() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.millrace.agent..",
                        "dev.millrace.tools..",
                        "dev.millrace.gateway..",
                        "dev.millrace.standalone..")
                .because("services meet on topics only")
                .check(classes);
    }

    @Test
    void shouldKeepTheContainerAtTheEdge() {
        noClasses()
                .that()
                .resideOutsideOfPackages("..config..", "..rest..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("jakarta..", "io.quarkus..", "io.smallrye..", "org.eclipse.microprofile..")
                .because("everything but wiring and HTTP can be built and tested with new")
                .check(classes);
    }
}
