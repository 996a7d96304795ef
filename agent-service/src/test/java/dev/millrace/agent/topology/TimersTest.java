package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.ContextWindow;
import dev.millrace.agent.core.Deadlines;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Usage;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TimersTest {

    private final Map<TaskState, OptionalLong> needed = new HashMap<>();
    private KeyValueStore<String, String> store;
    private Timers timers;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void open() {
        KeyValueStore<Bytes, byte[]> rows = org.apache.kafka.streams.state.Stores.keyValueStoreBuilder(
                        org.apache.kafka.streams.state.Stores.inMemoryKeyValueStore(TaskStores.ROWS),
                        Serdes.Bytes(),
                        Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        rows.init(context.getStateStoreContext(), rows);
        store = TaskStores.TIMERS.in(rows);
        timers = again();
    }

    private Timers again() {
        return new Timers(store, state -> needed.getOrDefault(state, OptionalLong.empty()));
    }

    @Test
    @DisplayName("X-43: tasks are woken when it is time, the oldest first, each once, also after a restart")
    void shouldWakeInOrder() {
        set("late", 300);
        set("early", 100);
        set("middle", 200);

        assertThat(timers.due(99, 10)).isEmpty();
        assertThat(timers.due(200, 10)).containsExactly("early", "middle");
        set("earliest", 50);
        assertThat(again().due(1_000, 10)).containsExactly("earliest", "late");
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("a wake-up is moved only to an earlier time; a later one waits until it has been woken for nothing")
    void shouldKeepOneWakeUp() {
        StoredTask task = set("t", 200);

        StoredTask later = timers.set(needing(task, 300));
        assertThat(later.wakeAtMs()).isEqualTo(200);
        StoredTask earlier = timers.set(needing(later, 100));
        assertThat(earlier.wakeAtMs()).isEqualTo(100);
        assertThat(rows()).isEqualTo(1);
        assertThat(timers.due(1_000, 10)).containsExactly("t");
    }

    @Test
    @DisplayName("a task that waits for nothing has no wake-up")
    void shouldForgetWhatIsNotNeeded() {
        StoredTask task = set("t", 200);

        StoredTask ended = timers.set(task.with(new TaskState.Completed(context("t")), 0));

        assertThat(ended.wakeAtMs()).isZero();
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("100 000 that are due at once come in pieces, and none is passed over or comes twice")
    void shouldComeInPieces() {
        for (int i = 0; i < 100_000; i++) {
            set("t" + i, 100 + i % 3);
        }

        List<String> woken = new ArrayList<>();
        List<String> piece = timers.due(200, 500);
        while (!piece.isEmpty()) {
            assertThat(piece).hasSizeLessThanOrEqualTo(500);
            woken.addAll(piece);
            piece = timers.due(200, 500);
        }

        assertThat(woken).hasSize(100_000).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("nobody looks into the store before a wake-up is due, for that would pass over all that was deleted")
    void shouldNotLookBeforeAnythingIsDue() {
        AtomicInteger looks = new AtomicInteger();
        timers = new Timers(counting(looks), state -> needed.getOrDefault(state, OptionalLong.empty()));
        set("late", 300);

        assertThat(timers.due(100, 10)).isEmpty();
        assertThat(looks).hasValue(1);
        for (int now = 101; now < 200; now++) {
            assertThat(timers.due(now, 10)).isEmpty();
        }
        assertThat(looks).hasValue(1);
        set("early", 250);
        assertThat(timers.due(249, 10)).isEmpty();
        assertThat(timers.due(250, 10)).containsExactly("early");
        assertThat(timers.due(299, 10)).isEmpty();
        assertThat(timers.due(300, 10)).containsExactly("late");
        assertThat(timers.due(10_000, 10)).isEmpty();
        assertThat(looks).hasValue(3);
        set("again", 10_001);
        assertThat(timers.due(10_001, 10)).containsExactly("again");
    }

    @SuppressWarnings("unchecked") // it is made of that interface
    private KeyValueStore<String, String> counting(AtomicInteger ranges) {
        return (KeyValueStore<String, String>) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("range")) {
                        ranges.incrementAndGet();
                    }
                    return method.invoke(store, arguments);
                });
    }

    private StoredTask set(String taskId, long atMs) {
        StoredTask task = new StoredTask(
                "default",
                taskId,
                null,
                taskId,
                null,
                null,
                taskId,
                0,
                0,
                0,
                AgentPin.NONE,
                waiting(taskId, "0"),
                null);
        return timers.set(needing(task, atMs));
    }

    private StoredTask needing(StoredTask task, long atMs) {
        TaskState state = waiting(task.taskId(), String.valueOf(atMs));
        needed.put(state, OptionalLong.of(atMs));
        return task.with(state, 0);
    }

    private static TaskState waiting(String taskId, String call) {
        return new TaskState.Reasoning(context(taskId), call, Deadlines.NEVER);
    }

    private static TaskContext context(String taskId) {
        return new TaskContext(
                taskId,
                "general",
                100,
                0,
                new TaskContext.Progress(0, 0, 0, 1, 1),
                new TaskContext.Budget(TaskLimits.DEFAULT, Deadlines.NEVER, Usage.NONE, Usage.NONE),
                Children.NONE,
                ContextWindow.EMPTY);
    }

    private long rows() {
        long count = 0;
        try (KeyValueIterator<String, String> all = store.all()) {
            for (; all.hasNext(); all.next()) {
                count++;
            }
        }
        return count;
    }
}
