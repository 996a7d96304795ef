package dev.millrace.gateway;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.GeneralCodingRules;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

class ArchitectureTest {

    private static final JavaClasses GATEWAY = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.gateway");

    @Test
    void shouldKnowKafkaInOnePackageOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage("..gateway.kafka..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.kafka..")
                .because("how events travel is nobody else's business")
                .check(GATEWAY);
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
                .check(GATEWAY);
    }

    @Test
    void shouldDependOnTheContractAndOnNoOtherService() {
        classes()
                .should()
                .onlyDependOnClassesThat(JavaClass.Predicates.resideOutsideOfPackage("dev.millrace..")
                        .or(JavaClass.Predicates.resideInAnyPackage(
                                "dev.millrace.api..",
                                "dev.millrace.gateway..",
                                "dev.millrace.kafka..",
                                "dev.millrace.schemas..",
                                "dev.millrace.telemetry..")))
                .because("services meet on topics and over HTTP")
                .check(GATEWAY);
    }

    @Test
    void shouldUseNoVagueNames() {
        noClasses()
                .should()
                .haveNameMatching(".*(Manager|Helper|Util|Utils|Impl|Base|Abstract|Info|Data|DTO|Service)")
                .because("a name says what a thing is")
                .check(GATEWAY);
        noClasses()
                .should()
                .resideInAnyPackage("..util..", "..common..", "..impl..", "..model..", "..helper..")
                .because("a package says what its classes are about")
                .check(GATEWAY);
    }

    @Test
    void shouldInjectThroughConstructorsWithFewParameters() {
        noFields()
                .should()
                .beAnnotatedWith(Inject.class)
                .because("an object is whole once it is made")
                .check(GATEWAY);
        classes()
                .that()
                .areNotRecords()
                .should(haveFewConstructorParameters())
                .because("a class with more than five collaborators does too much")
                .check(GATEWAY);
    }

    @Test
    void shouldLogInOneWay() {
        GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS.check(GATEWAY);
        fields().that()
                .haveRawType(Logger.class)
                .should()
                .haveName("LOGGER")
                .because("then nobody has to look")
                .check(GATEWAY);
    }

    private static ArchCondition<JavaClass> haveFewConstructorParameters() {
        return new ArchCondition<>("have at most five constructor parameters") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                for (JavaConstructor constructor : type.getConstructors()) {
                    int count = constructor.getParameters().size();
                    events.add(new SimpleConditionEvent(
                            constructor, count <= 5, constructor.getFullName() + " has " + count + " parameters"));
                }
            }
        };
    }
}
