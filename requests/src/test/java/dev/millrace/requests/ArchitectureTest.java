package dev.millrace.requests;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses REQUESTS = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.requests");

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
                .check(REQUESTS);
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
                .check(REQUESTS);
    }

    @Test
    void shouldKeepConstructorsShort() {
        assertThat(REQUESTS.stream()
                        .filter(type -> !type.isRecord())
                        .flatMap(type -> type.getConstructors().stream())
                        .filter(constructor ->
                                constructor.getRawParameterTypes().size() > 5))
                .as("a class with that many collaborators does too much")
                .isEmpty();
    }

    @Test
    void shouldNameNothingAfterNothing() {
        noClasses()
                .should()
                .haveNameMatching(".*(Manager|Helper|Util|Impl|Base|Abstract|Info|Data|DTO|Service)")
                .because("such a name says nothing about the promise")
                .check(REQUESTS);
    }
}
