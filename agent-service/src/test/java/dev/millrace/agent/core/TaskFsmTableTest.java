package dev.millrace.agent.core;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.core.Effect.Discard;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Samples.Outcome;
import dev.millrace.agent.core.TaskState.Ended;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The machine as a whole: every kind of state with every kind of event. */
class TaskFsmTableTest {

    private static final Path DOCUMENT = Path.of("../docs/task-lifecycle.md");
    private static final Path MACHINE = Path.of("src/main/resources/task-machine.json");

    static Stream<Outcome> everyPair() {
        return Samples.outcomes().stream();
    }

    @ParameterizedTest
    @ValueSource(classes = {TaskState.class, TaskEvent.class})
    void shouldHaveSampleOfEveryKind(Class<?> sealed) {
        Stream<?> samples = sealed == TaskState.class ? Samples.STATES.stream() : Samples.EVENTS.stream();

        assertThat(samples.map(Object::getClass).collect(toSet())).containsAll(Samples.kindsOf(sealed));
    }

    @ParameterizedTest
    @MethodSource("everyPair")
    @DisplayName("F-066, F-136: every pair has an answer; a discard is alone and changes nothing; the ended stay ended")
    void shouldAnswerEveryPair(Outcome outcome) {
        List<Effect> effects = outcome.transition().effects();
        boolean discarded = effects.stream().anyMatch(Discard.class::isInstance);

        assertThat(discarded).isEqualTo(!outcome.transition().accepted());
        if (discarded) {
            assertThat(outcome.transition())
                    .isEqualTo(new Transition(
                            outcome.state(),
                            List.of(new Discard(
                                    outcome.event().meta().eventId(), ((Discard) effects.getFirst()).reason()))));
        }
        if (outcome.state() instanceof Ended) {
            assertThat(discarded).isTrue();
        }
    }

    @Test
    @DisplayName("F-126 … F-136: the machine makes every move that is declared, and no other")
    void shouldMakeDeclaredMovesOnly() {
        // when
        Set<String> made = Samples.outcomes().stream()
                .filter(outcome -> outcome.transition().accepted())
                .map(outcome -> DeclaredMoves.nameOf(outcome.state(), outcome.event(), outcome.transition()))
                .collect(toSet());

        // then
        assertThat(made).containsExactlyInAnyOrderElementsOf(DeclaredMoves.byName());
    }

    @Test
    void shouldHaveUseForEveryEffectFactAndReason() {
        // given
        List<Effect> effects = Samples.outcomes().stream()
                .flatMap(outcome -> outcome.transition().effects().stream())
                .toList();

        // when
        Set<Class<?>> kinds = effects.stream().map(Object::getClass).collect(toSet());
        Set<Class<?>> facts = effects.stream()
                .flatMap(effect -> effect instanceof Publish(Fact fact)
                        ? Stream.of(fact)
                        : effect instanceof FollowUp(Fact.Consequence fact) ? Stream.of(fact) : Stream.empty())
                .map(Object::getClass)
                .collect(toSet());
        Set<DiscardReason> reasons = effects.stream()
                .filter(Discard.class::isInstance)
                .map(effect -> ((Discard) effect).reason())
                .collect(toSet());

        // then
        assertThat(kinds).containsAll(Samples.kindsOf(Effect.class));
        assertThat(facts).containsAll(Samples.kindsOf(Fact.class));
        assertThat(reasons).containsExactlyInAnyOrder(DiscardReason.values());
    }

    @Test
    @DisplayName("F-010: nothing that the machine gives away can be changed")
    void shouldHandOutUnchangeableListsOnly() {
        // given
        List<List<?>> lists = new ArrayList<>();
        Samples.EVENTS.forEach(event -> collectLists(event, lists));
        Samples.outcomes().forEach(outcome -> collectLists(outcome.transition(), lists));

        // then
        assertThat(lists)
                .isNotEmpty()
                .allSatisfy(list ->
                        assertThatThrownBy(() -> list.add(null)).isInstanceOf(UnsupportedOperationException.class));
    }

    private static void collectLists(Object value, List<List<?>> lists) {
        if (value instanceof List<?> list) {
            lists.add(list);
            list.forEach(element -> collectLists(element, lists));
        } else if (value instanceof Record) {
            for (RecordComponent component : value.getClass().getRecordComponents()) {
                try {
                    Object part = component.getAccessor().invoke(value);
                    if (part != null) {
                        collectLists(part, lists);
                    }
                } catch (ReflectiveOperationException e) {
                    throw new LinkageError(e.getMessage(), e);
                }
            }
        }
    }

    @Test
    @DisplayName("docs/task-lifecycle.md says what the machine does; -Dmillrace.docs.write=true writes it again")
    void shouldKeepDocumentFresh() throws IOException {
        // when
        String document = LifecycleDocument.of(Samples.outcomes());

        // then
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.createDirectories(DOCUMENT.getParent());
            Files.writeString(DOCUMENT, document);
        }
        assertThat(DOCUMENT).content().isEqualTo(document);
    }

    @Test
    @DisplayName("task-machine.json says what the machine does; -Dmillrace.docs.write=true writes it again")
    void shouldKeepMachineFileFresh() throws IOException {
        // when
        String machine = LifecycleDocument.machine();

        // then
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(MACHINE, machine);
        }
        assertThat(MACHINE).content().isEqualTo(machine);
    }
}
