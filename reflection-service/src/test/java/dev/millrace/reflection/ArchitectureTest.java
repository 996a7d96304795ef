package dev.millrace.reflection;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Clock;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses REFLECTION = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.reflection");

    @Test
    void shouldKeepTheRulesPure() {
        classes()
                .that()
                .resideInAPackage("..core..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("java.lang..", "java.util..", "org.jspecify..", "dev.millrace.reflection.core..")
                .because("what memory does can be tested by calling a function")
                .check(REFLECTION);
        noClasses()
                .that()
                .resideInAPackage("..core..")
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Clock.class, Instant.class, java.util.UUID.class, java.util.Random.class)
                .because("time and ids come in with the event")
                .check(REFLECTION);
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
                .check(REFLECTION);
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
                .check(REFLECTION);
    }

    @Test
    void shouldKeepConstructorsShort() {
        assertThat(REFLECTION.stream()
                        .filter(type -> !type.isRecord())
                        .flatMap(type -> type.getConstructors().stream())
                        .filter(constructor ->
                                constructor.getRawParameterTypes().size() > 5))
                .as("a class with that many collaborators does too much")
                .isEmpty();
    }
}
