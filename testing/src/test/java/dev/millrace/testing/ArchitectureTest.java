package dev.millrace.testing;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses TESTING = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.testing");

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
                .check(TESTING);
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
                .check(TESTING);
    }
}
