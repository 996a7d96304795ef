package dev.millrace.gateway;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import dev.millrace.testing.HouseRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest extends HouseRules {

    ArchitectureTest() {
        super("dev.millrace.gateway");
    }

    @Test
    void shouldKnowKafkaInOnePackageOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage("..gateway.kafka..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.kafka..")
                .because("how events travel is nobody else's business")
                .check(classes);
    }

    @Test
    void shouldKnowTheFrameworkAtTheEdgeOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackages("..gateway.config..", "..gateway.rest..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("jakarta..", "io.quarkus..", "io.smallrye..", "io.vertx..", "org.jboss..")
                .because("the parts are plain Java, so that a test makes them with new")
                .check(classes);
    }

    @Test
    void shouldDependOnTheContractAndOnNoOtherService() {
        classes()
                .should()
                .onlyDependOnClassesThat(JavaClass.Predicates.resideOutsideOfPackage("dev.millrace..")
                        .or(JavaClass.Predicates.resideInAnyPackage(
                                "dev.millrace.api..",
                                "dev.millrace.gateway..",
                                "dev.millrace.http..",
                                "dev.millrace.kafka..",
                                "dev.millrace.schemas..",
                                "dev.millrace.telemetry..")))
                .because("services meet on topics and over HTTP")
                .check(classes);
    }

    @Test
    void shouldHaveRoomsThatDoNotKnowEachOtherInCircles() {
        slices().matching("dev.millrace.gateway.rest.(*)..")
                .should()
                .beFreeOfCycles()
                .because("a room can then be read, and changed, without those that use it")
                .check(classes);
    }

    @Test
    void shouldReadRequestsWithoutKnowingWhatTheyAreFor() {
        noClasses()
                .that()
                .resideInAnyPackage("..rest.problems..", "..rest.requests..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "..rest.tasks..",
                        "..rest.streams..",
                        "..rest.chat..",
                        "..rest.memory..",
                        "..rest.system..",
                        "..rest.catalogue..",
                        "..rest.outside..",
                        "..rest.access..")
                .because("every room stands on these two")
                .check(classes);
        noClasses()
                .that()
                .resideInAPackage("dev.millrace.gateway.rest.*..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.millrace.gateway.rest")
                .because("what holds for all routes is above the rooms")
                .check(classes);
    }

    @Test
    void shouldHaveTasksKnowNothingOfThoseWhoWatchOrAskForThem() {
        noClasses()
                .that()
                .resideInAPackage("..rest.tasks..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("..rest.streams..", "..rest.chat..", "..rest.memory..", "..rest.system..")
                .because("it is the one way in, and they use it")
                .check(classes);
    }
}
