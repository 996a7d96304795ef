package dev.millrace.kafka;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** What holds in every module is tested by {@code KafkaHouseRulesTest} of {@code testing}, which depends on this one. */
class ArchitectureTest {

    private static final JavaClasses KAFKA = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.kafka");

    @Test
    void shouldKnowTheContractAndNoService() {
        classes()
                .that()
                .resideOutsideOfPackage("..config..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java..",
                        "org.jspecify..",
                        "org.slf4j..",
                        "org.apache.kafka.clients..",
                        "org.apache.kafka.common..",
                        "dev.millrace.schemas",
                        "dev.millrace.kafka..")
                .because("whoever reads or writes a topic depends on it, also what is no Quarkus application")
                .check(KAFKA);
    }

    @Test
    void shouldKnowTheContainerNowhere() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("jakarta..", "io.quarkus..")
                .because("configuration is read here, and nothing is injected")
                .check(KAFKA);
    }

    @Test
    void shouldReadNoClockOfTheDay() {
        noClasses()
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Instant.class, "now")
                .because("time comes in with the event, so that a replay gives the same")
                .check(KAFKA);
    }
}
