package dev.millrace.tools;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses TOOLS = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.tools");

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
                .check(TOOLS);
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
                .check(TOOLS);
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
                .check(TOOLS);
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
                .check(TOOLS);
    }

    @Test
    void shouldNotInjectIntoFields() {
        noFields()
                .should()
                .beAnnotatedWith(Inject.class)
                .because("a class says in its constructor what it needs")
                .check(TOOLS);
    }

    @Test
    void shouldKeepConstructorsShort() {
        assertThat(TOOLS.stream()
                        .filter(type -> !type.isRecord())
                        // what puts the service together has to name its parts
                        .filter(type -> !type.getPackageName().endsWith(".config"))
                        .flatMap(type -> type.getConstructors().stream())
                        .filter(constructor ->
                                constructor.getRawParameterTypes().size() > 5))
                .as("a class with that many collaborators does too much")
                .isEmpty();
    }
}
