package dev.millrace.reflection.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.test.TestRecord;
import org.assertj.core.groups.Tuple;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Forgetting, as the memory machine does it. */
@Tag("slow")
class ForgettingTopologyTest {

    @TempDir
    Path stateDir;

    @Test
    @DisplayName("all documents of the namespace go, with all their versions, and none of another one")
    void shouldForgetWhatANamespaceRemembers() {
        try (TestMemory memory = new TestMemory(stateDir, 1)) {
            // given
            memory.send(write("c1", "people", "one"));
            memory.send(write("c2", "people", "two"));
            memory.send(write("c3", "people", "three"));
            memory.send(write("c4", "others", "four"));
            memory.documents();
            memory.replies();

            // when
            memory.reflect(forgotten("people", "namespace", TestMemory.START));

            // then
            assertThat(memory.documents())
                    .extracting(TestRecord::key, TestRecord::value)
                    .containsExactlyInAnyOrder(
                            gone("people/facts/user.md"),
                            gone("people/facts/user.md@1"),
                            gone("people/facts/user.md@2"),
                            gone("people/facts/user.md@3"));
            assertThat(keys(memory, MemoryStores.DOCUMENTS)).hasSize(1).allMatch(key -> key.startsWith("others"));
            assertThat(memory.completions()).singleElement().satisfies(done -> {
                assertThat(EventSchemas.problems(done)).isEmpty();
                assertThat(done.type()).isEqualTo(KnownEventType.MEMORY_FORGOTTEN);
                assertThat(done.taskId()).isEqualTo("f1");
                assertThat(done.fields()).containsEntry("documents", 1).containsEntry("reflections", 0);
            });

            // and what was asked for before brings nothing back, what is asked for later is done
            memory.send(write("c5", "people", "five"));
            assertThat(memory.replies())
                    .singleElement()
                    .satisfies(reply -> assertThat(reply.text("code")).isEqualTo("forgotten"));
            memory.driver.advanceWallClockTime(Duration.ofSeconds(10));
            memory.send(write("c6", "people", "six"), TestMemory.START.plusSeconds(1));
            assertThat(memory.documents()).extracting(TestRecord::key).containsExactly("people/facts/user.md");
        }
    }

    @Test
    @DisplayName("a reflection on a forgotten task is given up, and what it has used is told; memory stays")
    void shouldGiveUpReflections() {
        try (TestMemory memory = new TestMemory(stateDir, 1)) {
            // given
            memory.send(write("c1", "people", "one"));
            memory.documents();
            memory.reflect(reflection("r1", "t1"));
            memory.reflect(reflection("r2", "t2"));

            // when
            Map<String, @Nullable Object> payload = payload("task", TestMemory.START);
            payload.put("taskId", "t1");
            memory.reflect(forgotten("people", "task", TestMemory.START).toBuilder()
                    .payload(payload)
                    .build());

            // then
            assertThat(memory.completions())
                    .singleElement()
                    .satisfies(done -> assertThat(done.fields())
                            .containsEntry("documents", 0)
                            .containsEntry("reflections", 1));
            assertThat(keys(memory, MemoryStores.REFLECTIONS)).hasSize(1).allMatch(key -> key.endsWith("r2"));
            assertThat(keys(memory, MemoryStores.CALLS)).hasSize(1);
            assertThat(memory.documents()).isEmpty();
        }
    }

    @Test
    @DisplayName("a moment in the future, of a request or of a row of before, keeps nothing out")
    void shouldNotBelieveTheFuture() {
        try (TestMemory memory = new TestMemory(stateDir, 1)) {
            // given
            memory.driver.advanceWallClockTime(Duration.ofSeconds(10));
            memory.reflect(forgotten("people", "namespace", Instant.parse("9998-01-01T00:00:00Z")));
            memory.driver.advanceWallClockTime(Duration.ofSeconds(10));

            // when
            memory.send(write("c1", "people", "one"), TestMemory.START.plusSeconds(11));

            // then
            assertThat(memory.documents()).extracting(TestRecord::key).contains("people/facts/user.md");
        }
    }

    @Test
    @DisplayName(
            "many documents and versions go a bounded number at a time; who asks meanwhile finds none of them, and what is"
                    + " written meanwhile stays")
    void shouldForgetInSlices() {
        try (TestMemory memory = new TestMemory(stateDir, 1)) {
            // given
            int versions = NamespaceDocuments.RECORDS_AT_ONCE + 10;
            for (int i = 0; i < versions; i++) {
                memory.send(write("c" + i, "people", "version " + i));
            }
            int documents = 100;
            for (int i = 0; i < documents; i++) {
                memory.send(
                        TestMemory.call("d" + i, "memory_write", Map.of("path", "facts/n" + i + ".md", "content", "x"))
                                .namespace("people")
                                .build());
            }
            memory.driver.advanceWallClockTime(Duration.ofSeconds(10));
            memory.documents();
            memory.replies();

            // when
            memory.reflect(forgotten("people", "namespace", TestMemory.START));

            // then
            assertThat(memory.documents()).hasSize(NamespaceDocuments.RECORDS_AT_ONCE);
            assertThat(memory.completions()).isEmpty();
            assertThat(keys(memory, MemoryStores.FORGETTING)).hasSize(1);

            // and
            Instant later = TestMemory.START.plusSeconds(1);
            memory.send(
                    TestMemory.call("r1", "memory_list", Map.of())
                            .namespace("people")
                            .build(),
                    later);
            assertThat(memory.replies())
                    .singleElement()
                    .satisfies(reply -> assertThat(String.valueOf(reply.fields().get("result")))
                            .doesNotContain("n7.md")
                            .doesNotContain("user.md"));
            memory.send(
                    TestMemory.call("w1", "memory_write", Map.of("path", "facts/user.md", "content", "new"))
                            .namespace("people")
                            .build(),
                    later);
            for (int turn = 0; turn < 20; turn++) {
                memory.driver.advanceWallClockTime(Duration.ofMillis(200));
            }
            assertThat(memory.completions())
                    .singleElement()
                    .satisfies(done -> assertThat(done.fields()).containsEntry("documents", documents + 1));
            assertThat(keys(memory, MemoryStores.FORGETTING)).isEmpty();
            assertThat(keys(memory, MemoryStores.DOCUMENTS))
                    .singleElement()
                    .satisfies(key -> assertThat(key).endsWith("facts/user.md"));
        }
    }

    private static Tuple gone(String key) {
        return Tuple.tuple(key, null);
    }

    private static Event write(String callId, String namespace, String content) {
        return TestMemory.call(callId, "memory_write", Map.of("path", "facts/user.md", "content", content))
                .namespace(namespace)
                .build();
    }

    private static Event reflection(String id, String taskId) {
        return Event.root(id, KnownEventType.REFLECTION_REQUESTED, TestMemory.START)
                .source("agent")
                .namespace("people")
                .taskId(taskId)
                .payload(Map.of(
                        "taskId", taskId, "input", "I am Ada", "response", "Hello", "iterations", 2, "actionsCount", 1))
                .build();
    }

    private static Event forgotten(String namespace, String scope, Instant requestedAt) {
        return Event.root("f1-0", KnownEventType.TASKS_FORGOTTEN, requestedAt)
                .source("agent")
                .namespace(namespace)
                .taskId("f1")
                .payload(payload(scope, requestedAt))
                .build();
    }

    private static Map<String, @Nullable Object> payload(String scope, Instant requestedAt) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("scope", scope);
        payload.put("forgetId", "f1");
        payload.put("requestedAt", requestedAt.toEpochMilli());
        payload.put("partition", 0);
        payload.put("partitions", 1);
        return payload;
    }

    private static List<String> keys(TestMemory memory, StoreSection<?> section) {
        List<String> keys = new ArrayList<>();
        try (KeyValueIterator<String, ?> rows = memory.rows(section).all()) {
            rows.forEachRemaining(row -> keys.add(row.key));
        }
        return keys;
    }
}
