package dev.millrace.gateway.rest.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.http.HttpRequest.BodyPublishers;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Documents over HTTP where no knowledge service runs: what is asked for is stored all the same. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class DocumentsIT {

    private final GatewayClient gateway = new GatewayClient();

    @Test
    @DisplayName("F-294: who asks for a document has a RAG_INGEST stored, in the namespace that was asked in")
    void shouldStoreWhatIsAskedFor() throws Exception {
        // when
        Answer answer = gateway.send(
                gateway.request("/v1/knowledge/documents?namespace=acme")
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", "ingest-wheel")
                        .POST(
                                BodyPublishers.ofString(
                                        "{\"source\": \"text://The wheel turns.\", \"chunking\": {\"strategy\": \"fixed\", \"size\": 64}}")));

        // then
        assertThat(answer.status()).isEqualTo(202);
        assertThat(answer.text("status")).isEqualTo("pending");
        assertThat(answer.text("documentId"))
                .isEqualTo(Payload.RagIngest.documentId("default", "text://The wheel turns."));
        try (TopicReader lanes =
                TestBroker.shared().read(gateway.topics().lanes().toArray(String[]::new))) {
            Event event = lanes.event(sent -> sent.id().equals("ingest-wheel"), GatewayClient.LIMIT);
            assertThat(event.type()).isEqualTo(KnownEventType.RAG_INGEST);
            assertThat(event.namespace()).isEqualTo("acme");
            assertThat(event.payload())
                    .isEqualTo(new Payload.RagIngest(
                            "text://The wheel turns.",
                            null,
                            null,
                            null,
                            null,
                            new Payload.RagIngest.Chunking("fixed", 64L, null)));
        }
    }

    @ParameterizedTest(name = "{0}: {1} {2}")
    @CsvSource(delimiter = '|', textBlock = """
            /v1/knowledge/documents             | 503 | knowledge_unavailable
            /v1/knowledge/documents/x           | 503 | knowledge_unavailable
            /v1/knowledge/search?q=wheel        | 503 | knowledge_unavailable
            /v1/knowledge/entities              | 503 | knowledge_unavailable
            /v1/knowledge/entities?limit=501    | 400 | bad_parameter
            /v1/knowledge/graph?from=entity:x   | 503 | knowledge_unavailable
            /v1/knowledge/graph                 | 400 | bad_parameter
            /v1/knowledge/graph?from=x&depth=4  | 400 | bad_parameter
            /v1/knowledge/graph?from=x&limit=201| 400 | bad_parameter
            /v1/knowledge/search                | 400 | bad_parameter
            /v1/knowledge/search?q=x&limit=51   | 400 | bad_parameter
            /v1/knowledge/search?q=x&threshold=2| 400 | bad_parameter
            /v1/knowledge/documents?limit=501   | 400 | bad_parameter
            /v1/knowledge/documents?namespce=x  | 400 | unknown_parameter
            """)
    void shouldSayWhatIsWrong(String path, int status, String code) throws Exception {
        Answer answer = gateway.get(path);

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.text("code")).isEqualTo(code);
    }

    @Test
    void shouldRefuseWhatIsNoDocument() throws Exception {
        Answer answer = gateway.send(gateway.request("/v1/knowledge/documents")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"source\": \"x\", \"chunking\": {\"size\": 15}}")));

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.text("code")).isEqualTo("invalid_payload");
    }
}
