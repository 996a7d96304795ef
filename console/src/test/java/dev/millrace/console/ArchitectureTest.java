package dev.millrace.console;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClass;
import dev.millrace.testing.HouseRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.console");
    }

    @Test
    void shouldKnowNoService() {
        classes()
                .should()
                .onlyDependOnClassesThat(JavaClass.Predicates.resideOutsideOfPackage("dev.millrace..")
                        .or(JavaClass.Predicates.resideInAnyPackage(
                                "dev.millrace.console..", "dev.millrace.schemas..")))
                .because("its pages ask the public API, in the browser")
                .check(classes);
    }
}
