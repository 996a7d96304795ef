package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.ContextWindow;
import dev.millrace.agent.core.Deadlines;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Usage;
import dev.millrace.agent.topology.AdmissionRow.Gate;
import dev.millrace.agent.topology.AdmissionRow.Holding;
import dev.millrace.agent.topology.AdmissionRow.Line;
import dev.millrace.agent.topology.AdmissionRow.Waiting;
import dev.millrace.engine.Rehoming;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TaskRehomingTest {

    private static final int FROM = 3;
    private static final int TO = 7;

    private final TaskRehoming rehoming = new TaskRehoming(FROM, TO);
    private final List<Rehoming.Row> placed = new ArrayList<>();

    @Test
    @DisplayName(
            "everything of a conversation goes to where its next event will come, whether it names the session or not")
    void shouldKeepConversationsTogether() {
        Rehoming.Row task = row(0, TaskStores.TASKS, "in-session", task("in-session", "s1", 4));
        Rehoming.Row alone = row(1, TaskStores.TASKS, "alone", task("alone", null, 4));
        Stream.of(task, alone).forEach(rehoming::look);

        place(task);
        place(alone);
        place(row(0, TaskStores.TIMERS, TaskStores.timerKey(17, "in-session"), "in-session"));
        place(row(1, TaskStores.GIVEN, "alone", event("alone", null)));
        place(row(0, TaskStores.LOCAL_CALLS, "default call", event("in-session", "s1")));
        place(row(2, TaskStores.ADMISSION, "holding/alone", new Holding("alone", "alone", "task alone", true, false)));

        assertThat(placed)
                .extracting(Rehoming.Row::partition)
                .containsExactly(home("s1"), home("alone"), home("s1"), home("alone"), home("s1"), home("alone"));
        assertThat(home("s1")).isNotEqualTo(home("in-session"));
    }

    @Test
    @DisplayName(
            "numbers in the line are unique where rows of several partitions meet, in the order that they had, and the"
                    + " next one is behind all of them")
    void shouldNumberTheLineAnew() {
        for (int partition = 0; partition < FROM; partition++) {
            for (long arrival = 1; arrival <= 4; arrival++) {
                String id = "t" + partition + "-" + arrival;
                Rehoming.Row task = row(partition, TaskStores.TASKS, id, task(id, null, arrival));
                rehoming.look(task);
                place(task);
                place(row(
                        partition,
                        TaskStores.ADMISSION,
                        "waiting/" + id,
                        new Waiting(new Line(id, "task " + id, 300, arrival), event(id, null))));
            }
            place(row(partition, TaskStores.ADMISSION, Admission.GATE, new Gate(4 + partition, partition == 1, null)));
        }

        rehoming.finish(TaskStores.ROWS, this::put);

        List<Long> numbers = placed.stream()
                .filter(row -> TaskStores.TASKS.has(row.key()))
                .map(row -> TaskStores.TASKS.valueIn(row.value()).arrival())
                .toList();
        assertThat(numbers).hasSize(12).doesNotHaveDuplicates();
        for (int partition = 0; partition < FROM; partition++) {
            assertThat(numbers.subList(partition * 4, partition * 4 + 4)).isSorted();
        }
        List<Line> lines = placed.stream()
                .filter(row -> TaskStores.ADMISSION.has(row.key()))
                .map(row -> TaskStores.ADMISSION.valueIn(row.value()))
                .filter(Waiting.class::isInstance)
                .map(row -> ((Waiting) row).line())
                .toList();
        assertThat(lines).extracting(Line::arrival).containsExactlyElementsOf(numbers);
        List<Rehoming.Row> gates = placed.stream()
                .filter(row -> TaskStores.ADMISSION.has(row.key())
                        && TaskStores.ADMISSION.keyIn(row.key()).equals(Admission.GATE))
                .toList();
        assertThat(gates).extracting(Rehoming.Row::partition).containsExactly(0, 1, 2, 3, 4, 5, 6);
        assertThat(gates).allSatisfy(row -> {
            Gate gate = (Gate) TaskStores.ADMISSION.valueIn(row.value());
            assertThat(gate.arrivals())
                    .isGreaterThan(numbers.stream().mapToLong(n -> n).max().orElseThrow());
            assertThat(gate.draining()).as("one that was closed stays so").isTrue();
        });
    }

    @Test
    @DisplayName("events that processors look at keep their order, and share no number")
    void shouldNumberHeldEventsAnew() {
        for (int partition = 0; partition < FROM; partition++) {
            for (long number = 9; number <= 17; number += 8) {
                Event event = event("t" + partition, null);
                place(row(
                        partition,
                        TaskStores.PROCESSING,
                        Processing.numbered("0000000000000000/1", number),
                        new Processing.Row(
                                event, 1, new Processing.Place("lane", 0, 3), true, List.of(), List.of(), null)));
            }
        }

        assertThat(placed)
                .extracting(row -> Processing.number(TaskStores.PROCESSING.keyIn(row.key())))
                .doesNotHaveDuplicates()
                .containsExactly(27L, 51L, 28L, 52L, 29L, 53L);
        assertThat(placed)
                .allSatisfy(row ->
                        assertThat(TaskStores.PROCESSING.keyIn(row.key())).endsWith("/1"));
    }

    @Test
    @DisplayName("ids that were taken are known on every partition, and on the same one where their number stays")
    void shouldKnowIdsEverywhere() {
        byte[] key = "default an-id and a time".getBytes(StandardCharsets.UTF_8);
        Rehoming.Row seen = new Rehoming.Row(TaskStores.SEEN, 2, key, new byte[] {1});

        place(seen);
        new TaskRehoming(FROM, FROM).place(seen, this::put);

        assertThat(placed).extracting(Rehoming.Row::partition).containsExactly(0, 1, 2, 3, 4, 5, 6, 2);
    }

    @Test
    @DisplayName("what is just being forgotten is an obstacle, what is forgotten is known everywhere")
    void shouldNotMoveWhatIsBeingForgotten() {
        Event request = Event.root("forget-1", KnownEventType.FORGET_REQUESTED, Instant.EPOCH)
                .source("test")
                .payload(Map.of("scope", "namespace"))
                .build();
        Rehoming.Row open = row(
                1, TaskStores.FORGOTTEN, "forget-1", new TaskForgetting.Row(request, 1, 1L, "next", false, 3, 0, 0));
        Rehoming.Row done =
                row(1, TaskStores.FORGOTTEN, "forget-1", new TaskForgetting.Row(request, 1, 1L, null, true, 3, 0, 0));

        assertThat(rehoming.obstacle(open))
                .hasValueSatisfying(why -> assertThat(why)
                        .isEqualTo("the request forget-1 to forget namespace of the namespace default is not done on"
                                + " partition 1"));
        assertThat(rehoming.obstacle(done)).isEmpty();
        place(done);
        assertThat(placed).hasSize(TO);
    }

    static Stream<String> sections() {
        return Arrays.stream(TaskStores.class.getDeclaredFields())
                .filter(field -> Modifier.isStatic(field.getModifiers()) && field.getType() == StoreSection.class)
                .map(Field::getName);
    }

    @ParameterizedTest
    @MethodSource("sections")
    @DisplayName("there is no kind of rows that cannot be moved")
    void shouldKnowEverySection(String name) throws ReflectiveOperationException {
        StoreSection<?> section =
                (StoreSection<?>) TaskStores.class.getDeclaredField(name).get(null);
        byte[] nonsense = "nonsense".getBytes(StandardCharsets.UTF_8);
        Rehoming.Row row = new Rehoming.Row(TaskStores.ROWS, 0, section.storeKey("a key"), nonsense);
        try {
            rehoming.place(row, this::put);
        } catch (RuntimeException e) {
            // its value is nonsense
            assertThat(e).hasMessageNotContaining("a kind of rows that this version does not know");
        }
    }

    @Test
    void shouldRefuseRowsOfALaterVersion() {
        Rehoming.Row row = new Rehoming.Row(TaskStores.ROWS, 0, new byte[] {'Z', 'x'}, new byte[] {1});

        assertThatThrownBy(() -> place(row))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a kind of rows that this version does not know: Z");
    }

    private void place(Rehoming.Row row) {
        rehoming.place(row, this::put);
    }

    private void put(int partition, byte[] key, byte[] value) {
        placed.add(new Rehoming.Row("", partition, key, value));
    }

    private static int home(String key) {
        return Rehoming.home(key, TO);
    }

    private static <V> Rehoming.Row row(int partition, StoreSection<V> section, String key, V value) {
        return new Rehoming.Row(TaskStores.ROWS, partition, section.storeKey(key), section.storeValue(value));
    }

    private static Event event(String taskId, @Nullable String session) {
        return Event.root("about-" + taskId, KnownEventType.TASK_NOTIFY, Instant.EPOCH)
                .source("test")
                .taskId(taskId)
                .sessionId(session)
                .payload(Map.of("message", "any"))
                .build();
    }

    private static StoredTask task(String taskId, @Nullable String session, long arrival) {
        return new StoredTask(
                "default",
                taskId,
                session,
                taskId,
                null,
                null,
                taskId,
                arrival,
                0,
                0,
                AgentPin.NONE,
                new TaskState.Completed(context(taskId)),
                null);
    }

    private static TaskContext context(String taskId) {
        return new TaskContext(
                taskId,
                "general",
                300,
                0,
                new TaskContext.Progress(0, 0, 0, 1, 1),
                new TaskContext.Budget(TaskLimits.DEFAULT, Deadlines.NEVER, Usage.NONE, Usage.NONE),
                Children.NONE,
                ContextWindow.EMPTY);
    }
}
