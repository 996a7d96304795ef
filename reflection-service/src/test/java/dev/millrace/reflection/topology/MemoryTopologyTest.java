package dev.millrace.reflection.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.engine.Sender;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.streams.test.TestRecord;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryTopologyTest {

    @TempDir
    Path stateDir;

    private @Nullable TestMemory begun;

    @AfterEach
    void stop() {
        if (begun != null) {
            begun.close();
        }
    }

    @Test
    @DisplayName("a call writes the document and answers on the lane of the task's session")
    void shouldWriteAndAnswer() throws MalformedEventException {
        TestMemory memory = begin(1);

        memory.send(write("c1", "# User\n> Summary: Ada\n").build());

        assertThat(memory.replies()).singleElement().satisfies(reply -> {
            assertThat(reply.type()).isEqualTo(KnownEventType.TOOL_CALL_COMPLETED);
            assertThat(reply.taskId()).isEqualTo("t1");
            assertThat(reply.sessionKey()).isEqualTo("s1");
            assertThat(reply.text("callId")).isEqualTo("c1");
            assertThat(EventSchemas.problems(reply)).isEmpty();
        });
        List<TestRecord<String, byte[]>> documents = memory.documents();
        assertThat(documents).singleElement().satisfies(record -> {
            assertThat(record.key()).isEqualTo("default/facts/user.md");
            assertThat(MemoryDocument.fromJson(record.value()))
                    .isEqualTo(new MemoryDocument(
                            "default",
                            "facts/user.md",
                            1,
                            "# User\n> Summary: Ada\n",
                            "Ada",
                            22,
                            "2026-11-21T12:00:00Z",
                            "task t1",
                            "c1"));
        });
    }

    @Test
    @DisplayName("what memory refuses is a failed call, and changes nothing")
    void shouldAnswerRefusals() {
        TestMemory memory = begin(1);

        memory.send(TestMemory.call("c1", "memory_read", Map.of("path", "../x")).build());

        assertThat(memory.replies()).singleElement().satisfies(reply -> {
            assertThat(reply.type()).isEqualTo(KnownEventType.TOOL_CALL_FAILED);
            assertThat(reply.text("code")).isEqualTo("path_outside_memory");
            assertThat(reply.text("error")).isEqualTo("Path \"../x\" escapes memory directory");
            assertThat(EventSchemas.problems(reply)).isEmpty();
        });
        assertThat(memory.documents()).isEmpty();
    }

    @Test
    @DisplayName("older versions are kept on the topic, and no more of them than configured")
    void shouldKeepVersions() throws MalformedEventException {
        TestMemory memory = begin(1);
        for (int i = 1; i <= 4; i++) {
            memory.send(write("c" + i, "text " + i).build());
        }

        List<TestRecord<String, byte[]>> records = memory.documents();

        assertThat(records)
                .extracting(record -> record.key() + (record.value() == null ? " gone" : ""))
                .containsExactly(
                        "default/facts/user.md",
                        "default/facts/user.md@1",
                        "default/facts/user.md",
                        "default/facts/user.md@2",
                        "default/facts/user.md",
                        "default/facts/user.md@3",
                        "default/facts/user.md@1 gone",
                        "default/facts/user.md");
        assertThat(MemoryDocument.fromJson(records.get(5).value()).content()).isEqualTo("text 3");
        assertThat(MemoryDocument.fromJson(records.get(7).value()).version()).isEqualTo(4);
    }

    @Test
    @DisplayName("a namespace does not see another one's documents")
    void shouldKeepNamespacesApart() {
        TestMemory memory = begin(1);
        memory.send(write("c1", "secret").namespace("acme").build());
        memory.send(write("c2", "secret").namespace("acme-2").build());
        memory.replies();

        memory.send(TestMemory.call("c3", "memory_list", Map.of()).build());
        memory.send(
                TestMemory.call("c4", "memory_list", Map.of()).namespace("acme").build());

        List<Event> replies = memory.replies();
        assertThat(replies.get(0).fields().get("result")).isEqualTo(List.of());
        assertThat(replies.get(1).fields().get("result"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .hasSize(1);
    }

    @Test
    @DisplayName("a request with a wrong key is sent to its partition once; garbage goes to the dead letters")
    void shouldSendHomeOnceAndPutGarbageAside() {
        TestMemory memory = begin(1_000_000);
        ProducerRecord<String, byte[]> call = EventCodec.toRecord(
                TestMemory.TOPICS.memoryRequests(), write("c1", "x").build());
        memory.sendRaw(call);
        assertThat(memory.output(TestMemory.TOPICS.memoryRequests()).readRecordsToList())
                .singleElement()
                .satisfies(sent -> {
                    assertThat(new String(sent.key(), StandardCharsets.UTF_8)).isEqualTo("default");
                    assertThat(sent.headers().lastHeader(Sender.REROUTED)).isNotNull();
                });

        // the driver has read it again on its only partition
        memory.sendRaw(new ProducerRecord<>(TestMemory.TOPICS.memoryRequests(), "k", new byte[] {1}));
        assertThat(memory.deadLetters()).containsExactly("wrong_partition", "not_a_cloud_event");
    }

    @Test
    void shouldPutAsideWhatIsNoRequest() {
        TestMemory memory = begin(1);
        memory.send(Event.root("m1", KnownEventType.MESSAGE_RECEIVED, TestMemory.START)
                .payload(Map.of("text", "hello"))
                .build());

        assertThat(memory.deadLetters()).containsExactly("unexpected_type");
        assertThat(memory.replies()).isEmpty();
    }

    private TestMemory begin(int partitions) {
        begun = new TestMemory(stateDir, 2, partitions);
        return begun;
    }

    private static Event.Builder write(String callId, String content) {
        return TestMemory.call(callId, "memory_write", Map.of("path", "facts/user.md", "content", content));
    }
}
