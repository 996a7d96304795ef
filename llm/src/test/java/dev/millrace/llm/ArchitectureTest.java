package dev.millrace.llm;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import dev.millrace.schemas.Backoff;
import dev.millrace.schemas.FairLine;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.testing.HouseRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.llm");
    }

    @Test
    void shouldStayAPlainLibrary() {
        classes()
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(
                                "java..",
                                "org.jspecify..",
                                "org.slf4j..",
                                "com.fasterxml.jackson..",
                                "io.smallrye.config..",
                                "dev.millrace.llm..")
                        .or(belongToAnyOf(Backoff.class, FairLine.class, Ids.class, Json.class, JsonObject.class)))
                .because("the services wire it; it knows no container, no Kafka and no event")
                .check(classes);
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        slices().matching("dev.millrace.(llm..)")
                .should()
                .beFreeOfCycles()
                .because("the port knows no model, and no model knows the configuration")
                .check(classes);
    }
}
