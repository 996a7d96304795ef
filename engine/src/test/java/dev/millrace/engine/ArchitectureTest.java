package dev.millrace.engine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses ENGINE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.engine");

    @Test
    void shouldKnowNoMachineAndNoContainer() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.millrace.engine.config..")
                .should()
                .dependOnClassesThat(JavaClass.Predicates.resideInAnyPackage("jakarta..", "io.quarkus..")
                        .or(JavaClass.Predicates.resideInAPackage("dev.millrace..")
                                .and(DescribedPredicate.not(JavaClass.Predicates.resideInAnyPackage(
                                        "dev.millrace.engine..",
                                        "dev.millrace.kafka..",
                                        "dev.millrace.schemas..",
                                        "dev.millrace.llm..")))))
                .because("the machines share it, and it shares nothing with one of them alone")
                .check(ENGINE);
    }
}
