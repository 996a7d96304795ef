package dev.millrace.kafka;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

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
    void shouldKeepConstructorsShort() {
        assertThat(KAFKA.stream()
                        .filter(type -> !type.isRecord())
                        .flatMap(type -> type.getConstructors().stream())
                        .filter(constructor ->
                                constructor.getRawParameterTypes().size() > 5))
                .as("a class with that many collaborators does too much")
                .isEmpty();
    }

    @Test
    void shouldNameClassesAfterWhatTheyAre() {
        noClasses()
                .should()
                .haveNameMatching(".*(Manager|Helper|Util|Utils|Impl|Base|Abstract|Info|Data|DTO|Dto|Service)")
                .because("such a name says nothing about the promise")
                .check(KAFKA);
    }

    @Test
    void shouldHaveOneNameForLoggersAndNoOtherOutput() {
        fields().that()
                .haveRawType(Logger.class)
                .should()
                .haveName("LOGGER")
                .andShould()
                .bePrivate()
                .because("one looks for one name")
                .check(KAFKA);
        noClasses()
                .should()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .because("output belongs to whoever runs this")
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
