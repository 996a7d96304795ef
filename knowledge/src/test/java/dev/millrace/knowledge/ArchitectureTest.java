package dev.millrace.knowledge;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import dev.millrace.testing.HouseRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.knowledge");
    }

    @Test
    void shouldKeepTheCorePure() {
        noClasses()
                .that()
                .resideInAPackage("..core..")
                .should()
                .dependOnClassesThat()
                .resideOutsideOfPackages("java..", "org.jspecify..", "dev.millrace.knowledge.core..")
                .because("how a document is cut depends on nothing but the document")
                .check(classes);
    }

    @Test
    void shouldKeepLuceneInOnePackage() {
        noClasses()
                .that()
                .resideOutsideOfPackage("..index..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.lucene..")
                .because("the index is a view, and what it is made with is its own business")
                .check(classes);
    }

    @Test
    void shouldKeepTheContainerOutOfTheParts() {
        noClasses()
                .that()
                .resideOutsideOfPackages("..config..", "..rest..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("jakarta..", "io.quarkus..", "org.eclipse.microprofile..")
                .because("the parts can be read, tested and used without Quarkus")
                .check(classes);
    }

    @Test
    void shouldKnowNoOtherService() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.millrace.agent..",
                        "dev.millrace.gateway..",
                        "dev.millrace.tools..",
                        "dev.millrace.reflection..",
                        "dev.millrace.standalone..")
                .because("services meet on topics only")
                .check(classes);
    }
}
