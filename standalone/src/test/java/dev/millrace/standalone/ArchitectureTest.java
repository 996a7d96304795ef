package dev.millrace.standalone;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses STANDALONE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.standalone");

    @Test
    void shouldKeepCommandsFreeOfServers() {
        noClasses()
                .that()
                .resideInAPackage("..cli..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.quarkus..",
                        "jakarta..",
                        "org.apache.kafka..",
                        "dev.millrace.broker..",
                        "dev.millrace.agent..",
                        "dev.millrace.tools..",
                        "dev.millrace.gateway..")
                .because("a command that asks a running Millrace has to be done in a blink")
                .check(STANDALONE);
    }

    @Test
    void shouldWriteThroughTheTerminal() {
        noClasses()
                .should()
                .accessField(System.class, "out")
                .because("the terminal is UTF-8 and System.out may not be")
                .check(STANDALONE);
    }
}
