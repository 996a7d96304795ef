package dev.millrace.tools.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.requests.Reply;
import dev.millrace.requests.ReplyEvents;
import dev.millrace.requests.Request;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallGuards;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import dev.millrace.tools.ToolExecutor;
import dev.millrace.tools.ToolPolicies;
import dev.millrace.tools.ToolRegistry;
import dev.millrace.tools.secrets.Secrets;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@RequiresBroker
@DisplayName("content by reference on a real broker")
class TopicContentIT {

    private static final Owner OWNER = new Owner("default", "task-1", null);
    private static final Duration SOON = Duration.ofSeconds(30);

    private final TestBroker broker = TestBroker.shared();
    private final Topics topics = broker.createTopics();
    private final TopicContent content = new TopicContent(ClientSettings.at(broker.bootstrapServers()), topics);

    @AfterEach
    void close() {
        content.close();
    }

    @Test
    void shouldGiveFiveMegabytesBackByteForByte() throws InterruptedException, IOException {
        // given
        String large = text(5_000_000);
        ToolExecutor executor = new ToolExecutor(
                new ToolRegistry(List.of(tool(large), Calls.tool(new ReadResult(content, 200_000), "read_result"))),
                new CallGuards(ToolPolicies.NONE, 5, Duration.ofSeconds(30)),
                new LargeResults(content, 200_000, 20_000_000),
                Secrets.NONE,
                new SimpleMeterRegistry());
        // when
        Map<?, ?> cut = object(executor.handle(Calls.request("large", Map.of(), 0)));
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        @Nullable Object offset = 0L;
        int largestReply = 0;
        while (offset != null) {
            Map<String, @Nullable Object> params = new HashMap<>();
            params.put("reference", cut.get("reference"));
            params.put("offset", offset);
            params.put("length", 1_000_000);
            Request request = Calls.request("read_result", params, 0);
            Reply reply = executor.handle(request);
            Map<?, ?> page = object(reply);
            all.write(String.valueOf(page.get("text")).getBytes(StandardCharsets.UTF_8));
            offset = page.get("nextOffset");
            largestReply = Math.max(
                    largestReply,
                    EventCodec.toRecord("t", ReplyEvents.toEvent(request, reply, Instant.EPOCH))
                            .value()
                            .length);
        }
        // then
        assertThat(all.toByteArray()).isEqualTo(large.getBytes(StandardCharsets.UTF_8));
        assertThat(cut.get("totalBytes")).isEqualTo(all.size());
        assertThat(largestReply).isLessThan(1_000_000);
        try (TopicReader reader = broker.read(topics.content())) {
            assertThat(reader.untilCount(all.size() / TopicContent.PIECE_BYTES, SOON))
                    .allSatisfy(piece -> assertThat(piece.serializedValueSize()).isLessThan(1_000_000));
        }
    }

    @Test
    void shouldReadAcrossTheSeamsOfPieces() throws Exception {
        // given
        byte[] bytes = text(TopicContent.PIECE_BYTES * 2 + 10).getBytes(StandardCharsets.US_ASCII);
        String reference = content.put(OWNER, "call-1", bytes, "text/plain");
        // when
        ContentStore.Slice seam = content.read(OWNER, reference, TopicContent.PIECE_BYTES - 5, 10);
        ContentStore.Slice end = content.read(OWNER, reference, bytes.length - 3, 100);
        ContentStore.Slice behind = content.read(OWNER, reference, bytes.length, 100);
        // then
        assertThat(seam.bytes())
                .isEqualTo(java.util.Arrays.copyOfRange(
                        bytes, TopicContent.PIECE_BYTES - 5, TopicContent.PIECE_BYTES + 5));
        assertThat(end.bytes()).hasSize(3);
        assertThat(behind.bytes()).isEmpty();
    }

    @Test
    @DisplayName("what was kept last is read without waiting for a fetch behind it")
    void shouldReadWhatWasKeptLastAtOnce() throws Exception {
        // given
        byte[] bytes = text(10).getBytes(StandardCharsets.US_ASCII);
        String before = content.put(OWNER, "call-1", bytes, "text/plain");
        String last = content.put(OWNER, "call-1", bytes, "text/plain");

        // when
        Duration behindNothing = quickestRead(before, bytes);
        Duration atTheEnd = quickestRead(last, bytes);

        // then: such a fetch is answered after half a second
        assertThat(atTheEnd).isLessThan(behindNothing.plusMillis(250));
    }

    /** By readers that have read nothing yet: one of five is not held up by something else. */
    private Duration quickestRead(String reference, byte[] bytes) throws Exception {
        Duration quickest = Duration.ofDays(1);
        for (int i = 0; i < 5; i++) {
            try (TopicContent another = new TopicContent(ClientSettings.at(broker.bootstrapServers()), topics)) {
                long began = System.nanoTime();
                assertThat(another.read(OWNER, reference, 0, 100).bytes()).isEqualTo(bytes);
                Duration took = Duration.ofNanos(System.nanoTime() - began);
                quickest = took.compareTo(quickest) < 0 ? took : quickest;
            }
        }
        return quickest;
    }

    @Test
    void shouldGiveNothingToStrangersAndNotSayThatItIsThere() throws Exception {
        // given
        String reference = content.put(
                new Owner("acme", "task-1", "s-1"), "call-1", "secret".getBytes(StandardCharsets.UTF_8), "text/plain");
        String absent = reference.replaceAll("-\\d+-([0-9a-f]{8})$", "-999999-$1");
        // when
        ToolException otherTenant = refusal(new Owner("other", "task-1", "s-1"), reference);
        ToolException otherTask = refusal(new Owner("acme", "task-2", "s-2"), reference);
        ToolException nothing = refusal(new Owner("acme", "task-1", "s-1"), absent);
        // then
        assertThat(List.of(otherTenant, otherTask, nothing))
                .extracting(ToolException::code)
                .containsOnly("unknown_reference");
        assertThat(otherTenant.getMessage()).isEqualTo(otherTask.getMessage());
        assertThat(content.read(new Owner("acme", "task-2", "s-1"), reference, 0, 10)
                        .bytes())
                .hasSize(6);
    }

    @Test
    void shouldNotTakeWhatAToolWroteForAnIndex() throws Exception {
        // given
        byte[] secret = "secret".getBytes(StandardCharsets.UTF_8);
        String victim = content.put(new Owner("victim", "v", null), "call-v", secret, "text/plain");
        long victimPiece = Long.parseLong(victim.split("-", -1)[2]) - 1;
        byte[] forged = Json.write(Map.of(
                "namespace",
                "default",
                "taskId",
                "task-1",
                "contentType",
                "text/plain",
                "totalBytes",
                6,
                "pieceBytes",
                500_000,
                "pieces",
                List.of(Map.of("partition", 0, "offset", victimPiece))));
        String mine = content.put(OWNER, "call-m", forged, "text/plain");
        String[] parts = mine.split("-", -1);
        String piece = "content-" + parts[1] + "-" + (Long.parseLong(parts[2]) - 1) + "-" + parts[3];
        // then
        assertThat(refusal(OWNER, piece).code()).isEqualTo("unknown_reference");
        assertThat(refusal(OWNER, "content-" + parts[1] + "-" + parts[2] + "-00000000")
                        .code())
                .isEqualTo("unknown_reference");
    }

    @Test
    void shouldKnowNoReferenceThatIsNone() {
        for (String reference : List.of(
                "x",
                "content-0-0",
                "content-0-0-",
                "content--1-0-12345678",
                "content-99-0-12345678",
                "../secret",
                "content-0-99999999999999999999-12345678",
                "content-999999999-0-12345678")) {
            assertThat(refusal(OWNER, reference).code()).as(reference).isEqualTo("unknown_reference");
        }
    }

    @Test
    void shouldSayThatAContentIsNoLongerKept() throws Exception {
        // given
        String reference = content.put(OWNER, "call-1", new byte[] {'x'}, "text/plain");
        String[] parts = reference.split("-", -1);
        content.put(OWNER, "call-2", new byte[] {'y'}, "text/plain");
        deleteBefore(new TopicPartition(topics.content(), Integer.parseInt(parts[1])), Long.parseLong(parts[2]) + 1);
        // then
        assertThat(refusal(OWNER, reference).code()).isEqualTo("content_gone");
    }

    @Test
    void shouldSayThatItCannotBeKeptWhenTheTopicIsNotThere() {
        // given
        ClientSettings kafka = ClientSettings.at("localhost:1");
        try (TopicContent nowhere = new TopicContent(kafka, topics)) {
            Thread.currentThread().interrupt();
            // when
            Exception interrupted = catchThrowableOfType(
                    InterruptedException.class, () -> nowhere.put(OWNER, "call-1", new byte[] {'x'}, "text/plain"));
            // then
            assertThat(interrupted).isNotNull();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }

    private void deleteBefore(TopicPartition partition, long offset) throws ExecutionException, InterruptedException {
        broker.admin()
                .deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(offset)))
                .all()
                .get();
    }

    private ToolException refusal(Owner reader, String reference) {
        ToolException no = catchThrowableOfType(ToolException.class, () -> content.read(reader, reference, 0, 100));
        assertThat(no).as(reference).isNotNull();
        return no;
    }

    private static Map<?, ?> object(Reply reply) {
        assertThat(reply).isInstanceOf(Reply.Completed.class);
        return (Map<?, ?>) java.util.Objects.requireNonNull(((Reply.Completed) reply).result());
    }

    private static String text(int bytes) {
        Random random = new Random(42);
        StringBuilder text = new StringBuilder(bytes);
        for (int i = 0; i < bytes; i++) {
            text.append((char) ('a' + random.nextInt(26)));
        }
        return text.toString();
    }

    private static CallableTool tool(String large) {
        return new CallableTool() {
            @Override
            public ToolDefinition definition() {
                return new ToolDefinition(
                        "large",
                        "Tests.",
                        JsonObject.of(Map.of("type", "object")),
                        "tool",
                        5_000,
                        ToolDefinition.SideEffects.READ_ONLY);
            }

            @Override
            public Object call(JsonObject params, ToolContext context) {
                return large;
            }
        };
    }
}
