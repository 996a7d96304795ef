package dev.millrace.gateway.rest.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the gateway asks of the writer of memory, and what it makes of its answers; the tests are the writer. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class MemoryIT {
    private static final String PATH = "facts/user.md";

    private final GatewayClient gateway = new GatewayClient();
    private final String namespace = "n-" + Ids.random();
    private final String url = "/v1/memory/" + namespace + "/" + PATH;

    @Test
    @DisplayName("an edit that nobody answers is stored; asked for again by its id, its answer is told")
    void shouldTellTheAnswerWhenThereIsOne() throws Exception {
        try (TopicReader requests = TestBroker.shared().read(gateway.topics().memoryRequests())) {
            Answer accepted = put("# Ada", "?wait=300ms&by=ada", "Idempotency-Key", "k1", "If-Match", "\"2-x\"");

            assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
            assertThat(accepted.text("eventId")).isEqualTo("k1");
            Event request = requests.event(event -> event.namespace().equals(namespace), GatewayClient.LIMIT);
            assertThat(request.type()).isEqualTo(KnownEventType.MEMORY_EDIT_REQUESTED);
            assertThat(request.fields())
                    .isEqualTo(Map.of("path", PATH, "content", "# Ada", "ifMatch", List.of("2-x"), "editedBy", "ada"));

            CompletableFuture<Answer> again = whileAsking("# Ada", "Idempotency-Key", "k1");
            requests.events(all -> of(all).size() == 2, GatewayClient.LIMIT);
            publish(document(7, "later"), "k1", "3");

            assertThat(again.get().status()).isEqualTo(200);
            assertThat(again.get().header("ETag")).isEqualTo("\"" + MemoryDocument.tag(3, "k1") + "\"");
        }
        assertThat(gateway.get(url).body()).isEqualTo("later");
        assertThat(gateway.get(url).header("ETag")).isEqualTo("\"" + MemoryDocument.tag(7, "c7") + "\"");
    }

    @ParameterizedTest
    @CsvSource({
        "precondition_failed, 412, precondition_failed",
        "document_not_found, 404, unknown_document",
        "document_too_large, 413, document_too_large",
        "memory_full, 409, memory_full"
    })
    void shouldSayWhyTheWriterRefuses(String outcome, int status, String code) throws Exception {
        try (TopicReader requests = TestBroker.shared().read(gateway.topics().memoryRequests())) {
            CompletableFuture<Answer> asking = whileAsking("# Ada");
            Event request = requests.event(event -> event.namespace().equals(namespace), GatewayClient.LIMIT);
            // the answer to another one of that id, in another namespace, is none
            publish("other/" + PATH, null, request.id(), "1");
            publish(document(4, "theirs"), request.id(), outcome);

            Answer refused = asking.get();
            assertThat(refused.status()).as(refused.body()).isEqualTo(status);
            assertThat(refused.text("code")).isEqualTo(code);
            if (status == 412) {
                assertThat(refused.text("detail")).contains("has version 4", "by task t1", "Nothing was changed");
                assertThat(refused.text("etag")).isEqualTo("\"" + MemoryDocument.tag(4, "c4") + "\"");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"by\":\"ada\"} | 400 | unknown_field",
                "# Ada          | 400 | bad_json",
                "{}             | 404 | unknown_version",
            })
    @DisplayName("a body of a restore is not ignored: what it says is refused")
    void shouldRefuseTheBodyOfARestore(String body, int status, String code) throws Exception {
        publish(document(2, "as it was"), null, null);

        Answer refused = gateway.postText(url + "/versions/9/restore", body);

        assertThat(refused.status()).as(refused.body()).isEqualTo(status);
        assertThat(refused.text("code")).isEqualTo(code);
    }

    @Test
    void shouldReadWhatIsThereNowThoughItHasChangedAgainAndAgain() throws Exception {
        for (int version = 1; version <= 30; version++) {
            publish(document(version, "version " + version), null, null);
            assertThat(gateway.get(url).body()).isEqualTo("version " + version);
        }
        publish(namespace + "/" + PATH, null, null, null);
        assertThat(gateway.get(url).status()).isEqualTo(404);
        assertThat(gateway.get("/v1/memory/" + namespace).field("documents")).isEqualTo(List.of());
    }

    @Test
    void shouldPageThroughANamespace() throws Exception {
        for (String name : List.of("b", "a", "c")) {
            MemoryDocument document = new MemoryDocument(
                    namespace, "facts/" + name + ".md", 1, name, "", 1, "2026-11-22T09:00:00Z", "task t1", "c1");
            publish(document, null, null);
        }

        Answer first = gateway.get("/v1/memory/" + namespace + "?limit=2");
        Answer last = gateway.get("/v1/memory/" + namespace + "?limit=2&cursor=" + first.text("next"));

        assertThat(paths(first)).containsExactly("facts/a.md", "facts/b.md");
        assertThat(paths(last)).containsExactly("facts/c.md");
        assertThat(last.field("next")).isNull();
        assertThat(gateway.get("/v1/memory/" + namespace + "?limit=0").status()).isEqualTo(400);
    }

    private List<Event> of(List<Event> all) {
        return all.stream().filter(event -> event.namespace().equals(namespace)).toList();
    }

    private static List<String> paths(Answer page) {
        return page.field("documents") instanceof List<?> documents
                ? documents.stream()
                        .map(one -> String.valueOf(((Map<?, ?>) one).get("path")))
                        .toList()
                : List.of();
    }

    private CompletableFuture<Answer> whileAsking(String content, String... headers) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return put(content, "", headers);
            } catch (IOException e) {
                throw new AssertionError(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError(e);
            }
        });
    }

    private Answer put(String content, String query, String... headers) throws IOException, InterruptedException {
        var request = gateway.request(url + query)
                .header("Content-Type", "text/markdown")
                .PUT(BodyPublishers.ofString(content));
        return gateway.send(headers.length == 0 ? request : request.headers(headers));
    }

    private MemoryDocument document(long version, String content) {
        return new MemoryDocument(
                namespace,
                PATH,
                version,
                content,
                "",
                content.length(),
                "2026-11-22T09:00:00Z",
                "task t1",
                "c" + version);
    }

    private void publish(MemoryDocument document, @Nullable String answers, @Nullable String outcome) {
        publish(MemoryDocument.key(document.namespace(), document.path()), document.toJson(), answers, outcome);
    }

    private void publish(String key, byte @Nullable [] value, @Nullable String answers, @Nullable String outcome) {
        RecordHeaders headers = new RecordHeaders();
        if (answers != null && outcome != null) {
            headers.add(HeaderNames.ANSWER, answers.getBytes(StandardCharsets.UTF_8));
            headers.add(HeaderNames.OUTCOME, outcome.getBytes(StandardCharsets.UTF_8));
        }
        TestBroker.shared()
                .produce(new ProducerRecord<>(
                        gateway.topics().memory(), null, null, key.getBytes(StandardCharsets.UTF_8), value, headers));
    }
}
