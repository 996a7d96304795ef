package dev.millrace.agent;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.SimpleConditionEvent.violated;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import dev.millrace.agent.core.Effect;
import dev.millrace.agent.core.Fact;
import dev.millrace.agent.core.Plan;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.apache.kafka.streams.processor.StateStore;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What may know what in the agent service (STYLE B9). */
class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.millrace.agent");

    /** The JDK's ways to ask for the time or a number; {@code now} with an argument takes a clock, which rule 2 sees too. */
    private static final Set<String> TIME_AND_CHANCE = Set.of(
            "java.time.Instant.now",
            "java.time.LocalDate.now",
            "java.time.LocalTime.now",
            "java.time.LocalDateTime.now",
            "java.time.OffsetDateTime.now",
            "java.time.ZonedDateTime.now",
            "java.lang.System.currentTimeMillis",
            "java.lang.System.nanoTime",
            "java.lang.Math.random");

    private static final String CORE = "dev.millrace.agent.core..";

    @Test
    @DisplayName("1: the core knows the language and itself")
    void shouldKeepCoreFreeOfEverything() {
        classes()
                .that()
                .resideInAPackage(CORE)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        CORE,
                        "java.lang..",
                        "java.util",
                        "java.util.function",
                        "java.util.stream",
                        "java.time",
                        "org.jspecify..")
                .because("the core is the product: it can be read in one sitting, tested by calling it, and ported; "
                        + "what it needs to know comes in with the event")
                .check(CLASSES);
    }

    @Test
    @DisplayName("2: the core has no clock, no chance and no threads")
    void shouldKeepCoreDeterministic() {
        noClasses()
                .that()
                .resideInAPackage(CORE)
                .should()
                .accessTargetWhere(access(
                        "tells the time or draws a number",
                        access ->
                                TIME_AND_CHANCE.contains(access.getTargetOwner().getName() + "." + access.getName())))
                .orShould()
                .dependOnClassesThat(assignableTo(Clock.class)
                        .or(assignableTo(Thread.class))
                        .or(assignableTo(RandomGenerator.class))
                        .or(assignableTo(Random.class))
                        .or(assignableTo(UUID.class)))
                .because(
                        "equal arguments give equal results, so that a log can be replayed; time and ids come in with the "
                                + "event or are derived from it")
                .check(CLASSES);
    }

    @Test
    @DisplayName("3: Kafka stays where records are read and written")
    void shouldKeepKafkaInItsPlace() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "dev.millrace.agent.kafka..",
                        "dev.millrace.agent.topology..",
                        "dev.millrace.agent.projection..",
                        "dev.millrace.agent.config..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.kafka..")
                .because(
                        "what is decided, how a model is called and what HTTP answers do not depend on how records travel")
                .check(CLASSES);
    }

    @Test
    @DisplayName("4: the framework stays at the edge")
    void shouldKeepFrameworkAtTheEdge() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.millrace.agent.config..", "dev.millrace.agent.rest..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("jakarta..", "io.quarkus..", "io.smallrye..", "org.eclipse.microprofile..")
                .because("everything but wiring and HTTP can be built and tested with new")
                .check(CLASSES);
    }

    @Test
    @DisplayName("5: a service knows no other service")
    void shouldKnowNoOtherService() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAPackage("dev.millrace..")
                        .and(DescribedPredicate.not(resideInAnyPackage(
                                "dev.millrace.agent..",
                                "dev.millrace.api..",
                                "dev.millrace.engine..",
                                "dev.millrace.http.client..",
                                "dev.millrace.kafka..",
                                "dev.millrace.schemas..",
                                "dev.millrace.llm..",
                                "dev.millrace.telemetry.."))))
                .because("services meet in topics and in nothing else; only standalone sees them all")
                .check(CLASSES);
    }

    @Test
    @DisplayName("6: states, events and effects are records of values")
    void shouldKeepStatesEventsAndEffectsValues() {
        for (Class<?> family : List.of(
                TaskState.class, TaskEvent.class, Effect.class, Fact.class, TranscriptEntry.class, Plan.Step.class)) {
            classes()
                    .that()
                    .implement(family)
                    .and()
                    .areNotInterfaces()
                    .should()
                    .beRecords()
                    .because("they are compared, stored and replayed; a new one is a new record")
                    .check(CLASSES);
        }
        fields().that()
                .areDeclaredInClassesThat()
                .resideInAPackage(CORE)
                .and()
                .areNotStatic()
                .should(beOfUnchangeableType())
                .because("a value that can be changed after it was decided on is not a value")
                .check(CLASSES);
    }

    @Test
    @DisplayName("7: names say what a thing is")
    void shouldAvoidNamesThatSayNothing() {
        noClasses()
                .should()
                .haveNameMatching(".*(Manager|Helper|Util|Utils|Impl|Base|Abstract|Info|Data|DTO|Service)")
                .orShould()
                .resideInAnyPackage("..util..", "..common..", "..impl..", "..model..", "..helper..")
                .because("such a name fits everything, so it tells nothing and collects everything")
                .check(CLASSES);
    }

    @Test
    @DisplayName("8: only the topology writes stores")
    void shouldWriteStoresInTheTopologyOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.millrace.agent.topology..", "dev.millrace.agent.projection..")
                .should()
                .accessTargetWhere(access(
                        "writes a store",
                        access -> access.getTargetOwner().isAssignableTo(StateStore.class)
                                && Set.of("put", "putAll", "putIfAbsent", "delete")
                                        .contains(access.getName())))
                .because("a store has one writer, inside the transaction of the record that it follows from")
                .check(CLASSES);
    }

    @Test
    @DisplayName("9: collaborators come in by the constructor, and are few; nothing prints")
    void shouldTakeFewCollaborators() {
        noFields()
                .should()
                .beAnnotatedWith("jakarta.inject.Inject")
                .orShould()
                .beAnnotatedWith("org.eclipse.microprofile.config.inject.ConfigProperty")
                .because("a class that is built with new in tests gets everything by its constructor")
                .check(CLASSES);
        classes()
                .that()
                .areNotRecords()
                .should(haveAtMostFiveConstructorParameters())
                .because("more collaborators are a second class that wants to get out")
                .check(CLASSES);
        noClasses()
                .should()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .because("what is worth saying is logged, with its keys")
                .check(CLASSES);
    }

    @Test
    @DisplayName("10: there is one name for a logger")
    void shouldCallLoggersLogger() {
        fields().that()
                .haveRawType(describe("a logger", type -> type.getSimpleName().equals("Logger")))
                .should()
                .haveName("LOGGER")
                .andShould()
                .bePrivate()
                .andShould()
                .beStatic()
                .andShould()
                .beFinal()
                .allowEmptyShould(true)
                .because("it is looked for in every class")
                .check(CLASSES);
    }

    @Test
    @DisplayName("STYLE B7: every package says what it is for, and that nothing in it is null unless it says so")
    void shouldMarkPackages() {
        classes()
                .should(new ArchCondition<>("be in a package that is @NullMarked") {
                    @Override
                    public void check(JavaClass item, ConditionEvents events) {
                        if (!item.getPackage().isAnnotatedWith(NullMarked.class)) {
                            events.add(violated(item, item.getPackageName() + " has no @NullMarked package-info"));
                        }
                    }
                })
                .because("NullAway checks only what is marked")
                .check(CLASSES);
    }

    private static DescribedPredicate<JavaAccess<?>> access(String description, Predicate<JavaAccess<?>> predicate) {
        return describe(description, predicate);
    }

    private static ArchCondition<JavaField> beOfUnchangeableType() {
        return new ArchCondition<>("be final and neither an array nor a mutable collection") {
            @Override
            public void check(JavaField field, ConditionEvents events) {
                JavaClass type = field.getRawType();
                boolean collection = type.isAssignableTo(Collection.class) || type.isAssignableTo(Map.class);
                boolean copyable = type.isEquivalentTo(List.class)
                        || type.isEquivalentTo(Set.class)
                        || type.isEquivalentTo(Map.class);
                if (!field.getModifiers().contains(JavaModifier.FINAL) || type.isArray() || (collection && !copyable)) {
                    events.add(violated(field, field.getFullName() + " is a " + type.getName()));
                }
            }
        };
    }

    private static ArchCondition<JavaClass> haveAtMostFiveConstructorParameters() {
        return new ArchCondition<>("have constructors of at most five parameters") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                type.getConstructors().stream()
                        .filter(constructor ->
                                constructor.getRawParameterTypes().size() > 5)
                        .forEach(constructor -> events.add(violated(
                                type,
                                constructor.getFullName() + " has "
                                        + constructor.getRawParameterTypes().size() + " parameters")));
            }
        };
    }
}
