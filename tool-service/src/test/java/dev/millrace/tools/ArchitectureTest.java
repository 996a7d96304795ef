package dev.millrace.tools;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import dev.millrace.testing.HouseRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.tools");
    }

    @Test
    void shouldKnowNoOtherService() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.millrace.agent..",
                        "dev.millrace.gateway..",
                        "dev.millrace.llm..",
                        "dev.millrace.standalone..")
                .because("services meet on topics only")
                .check(classes);
    }

    @Test
    void shouldKeepTheContainerInOnePackage() {
        noClasses()
                .that()
                .resideOutsideOfPackage("..config..")
                .should()
                .dependOnClassesThat(resideInAnyPackage("jakarta..", "io.quarkus..", "org.eclipse.microprofile..")
                        // no part of a container: a tool's parameters say with it what they may be
                        .and(not(resideInAPackage("jakarta.validation.constraints"))))
                .because("a tool can be read, tested and used without Quarkus")
                .check(classes);
    }

    @Test
    void shouldKeepKafkaAwayFromTools() {
        noClasses()
                .that()
                .resideInAnyPackage("..files..", "..http..", "..mcp..", "dev.millrace.tools.java..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.kafka..")
                .because("a tool does not know how it was asked")
                .check(classes);
    }

    @Test
    void shouldKeepTheMcpSdkInOnePackage() {
        noClasses()
                .that()
                .resideOutsideOfPackage("..mcp..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.modelcontextprotocol..", "reactor..", "org.reactivestreams..")
                .because("the protocol is behind McpConnection")
                .check(classes);
    }
}
