package dev.millrace.broker;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** What holds in every module is tested by {@code BrokerHouseRulesTest} of {@code testing}, which depends on this one. */
class ArchitectureTest {

    private static final JavaClasses BROKER = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.broker");

    @Test
    void shouldKnowNothingOfTheRestOfMillrace() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.millrace.schemas..", "jakarta..", "io.quarkus..")
                .because("it is a plain Kafka broker, whatever runs on it")
                .check(BROKER);
    }

    @Test
    void shouldShowOnlyItsEntranceAndItsException() {
        classes()
                .that()
                .arePublic()
                .and()
                .areTopLevelClasses()
                .should()
                .haveNameMatching(".*\\.(EmbeddedBroker|BrokerUsers|BrokerStartException)")
                .because("everything else may change with Kafka's internals")
                .check(BROKER);
    }
}
