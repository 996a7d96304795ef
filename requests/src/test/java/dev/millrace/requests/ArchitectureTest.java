package dev.millrace.requests;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import dev.millrace.testing.HouseRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.requests");
    }

    @Test
    void shouldKnowNoServiceAndNoFramework() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.millrace.agent..",
                        "dev.millrace.tools..",
                        "dev.millrace.gateway..",
                        "dev.millrace.standalone..",
                        "dev.millrace.llm..",
                        "io.quarkus..",
                        "jakarta..")
                .because("any service may serve a request topic, also one that is no Quarkus application")
                .check(classes);
    }

    @Test
    void shouldHideKafkaBehindTheWorker() {
        noClasses()
                .that()
                .arePublic()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.kafka..")
                .because("how requests are taken may change without anybody noticing")
                .check(classes);
    }
}
