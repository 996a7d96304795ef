package dev.millrace.schemas;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
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
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses SCHEMAS = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.schemas");

    @Test
    void shouldKnowNoServiceAndNoFramework() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "java..",
                        "javax.crypto..",
                        "org.jspecify..",
                        "com.fasterxml.jackson..",
                        "com.google.re2j..",
                        "com.networknt..",
                        "io.cloudevents..",
                        "org.apache.kafka.clients..",
                        "org.apache.kafka.common..",
                        "dev.millrace.schemas..")
                .because("every service depends on the contract, so what it depends on all have to take")
                .check(SCHEMAS);
    }

    @Test
    void shouldKnowRecordsOnlyWhereItSaysHowTheyLook() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName(EventCodec.class.getName())
                .and(describe("are no dead letters", type -> !type.getName().startsWith(DeadLetters.class.getName())))
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.kafka..")
                .because("an event is an event without a record; what says how a record looks is the one bridge")
                .check(SCHEMAS);
    }

    @Test
    void shouldReadTheClockOnlyWhereAnIdIsDrawnOrARecordIsDated() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName(Ids.class.getName())
                .and()
                .doNotHaveFullyQualifiedName(EventCodec.class.getName())
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Instant.class, "now")
                .because("time comes in with the event, so that a replay gives the same")
                .check(SCHEMAS);
    }

    @Test
    void shouldNameClassesAfterWhatTheyAre() {
        noClasses()
                .that()
                .doNotImplement(Payload.class) // these are called as their types are
                .should()
                .haveNameMatching(".*(Manager|Helper|Util|Utils|Impl|Base|Abstract|Info|Data|DTO|Dto|Service)")
                .orShould()
                .resideInAnyPackage("..util..", "..common..", "..impl..", "..model..", "..helper..", "..service..")
                .because("such a name says nothing (STYLE B2)")
                .check(SCHEMAS);
    }

    @Test
    void shouldWriteNoOutput() {
        noClasses()
                .should()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .because("output belongs to whoever runs this")
                .check(SCHEMAS);
    }

    @Test
    void shouldTakeAtMostFiveCollaborators() {
        constructors()
                .that()
                .areDeclaredInClassesThat(describe(
                        "are no records or enums",
                        (JavaClass type) -> !type.isRecord() && !type.isAssignableTo(Enum.class)))
                .should(new ArchCondition<JavaConstructor>("have at most 5 parameters") {
                    @Override
                    public void check(JavaConstructor constructor, ConditionEvents events) {
                        int count = constructor.getRawParameterTypes().size();
                        events.add(new SimpleConditionEvent(
                                constructor, count <= 5, constructor.getFullName() + " has " + count));
                    }
                })
                .because("more than that is more than one thing")
                .check(SCHEMAS);
    }

    @Test
    void shouldHaveNoStateThatAllCanChange() {
        noFields()
                .that()
                .areStatic()
                .should()
                .notBeFinal()
                .because("everything here is safe for any thread")
                .check(SCHEMAS);
    }
}
