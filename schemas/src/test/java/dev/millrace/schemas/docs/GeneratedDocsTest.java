package dev.millrace.schemas.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class GeneratedDocsTest {
    private static final String WRITE_PROPERTY = "millrace.docs.write";

    /** Rewrites the documents. */
    static final String COMMAND = "./mvnw -q -pl schemas test -Dtest=GeneratedDocsTest -D" + WRITE_PROPERTY + "=true";

    @Test
    void shouldFindEventsMdUpToDate() throws IOException {
        assertUpToDate("events.md", EventsDocument.text());
    }

    @Test
    void shouldFindAsyncApiUpToDate() throws IOException {
        assertUpToDate("asyncapi.yaml", AsyncApiDocument.text());
    }

    @Test
    void shouldLeaveNoPlaceOfTheTemplateEmpty() throws IOException {
        assertThat(EventsDocument.text().replaceAll("\\{\\{(body|a)\\.[a-z0-9. |\\\\]*}}", ""))
                .doesNotContain("{{");
    }

    @Test
    void shouldExplainEveryHeaderThatIsRead() throws IOException {
        // given
        String text = EventsDocument.text();

        // then
        assertThat(List.of(
                        EventCodec.CE_ID,
                        EventCodec.CE_TYPE,
                        EventCodec.CE_TIME,
                        EventCodec.CE_SOURCE,
                        EventCodec.CE_SUBJECT,
                        EventCodec.CE_SPECVERSION,
                        "ce_" + EventCodec.CAUSATION_ID,
                        "ce_" + EventCodec.CORRELATION_ID,
                        "ce_" + EventCodec.PRIORITY,
                        "ce_" + EventCodec.SESSION_ID,
                        "ce_" + EventCodec.NAMESPACE,
                        "ce_" + EventCodec.EXPIRY_TIME,
                        EventCodec.TRACEPARENT))
                .allSatisfy(header -> {
                    assertThat(text).containsPattern("\\| `" + header + "`[^|]*\\|");
                    assertThat(AsyncApiDocument.text()).contains(header + ":");
                });
    }

    @Test
    void shouldOnlyLinkToHeadingsThatAreThere() throws IOException {
        // given
        String text = EventsDocument.text();
        List<String> headings = Pattern.compile("(?m)^#+ (.*)$")
                .matcher(text)
                .results()
                .map(heading -> anchor(heading.group(1)))
                .toList();

        // when
        List<String> links = Pattern.compile("\\]\\(#([^)]*)\\)")
                .matcher(text)
                .results()
                .map((MatchResult link) -> link.group(1))
                .toList();

        // then
        assertThat(links).isNotEmpty().allMatch(headings::contains);
    }

    @Test
    void shouldShowAReplyThatAnswersTheRequest() {
        // given
        Event request = Samples.request();

        // when
        Event reply = Samples.reply(request);

        // then
        assertThat(EventSchemas.problems(request)).isEmpty();
        assertThat(EventSchemas.problems(reply)).isEmpty();
        assertThat(reply.fields().get("callId")).isEqualTo(request.fields().get("callId"));
        assertThat(reply.lane()).isEqualTo(Segment.TOOL);
        assertThat(reply.sessionKey()).isEqualTo(request.sessionKey());
    }

    @Test
    void shouldBeAnAsyncApi3Document() throws IOException {
        // given
        JsonNode document = new YAMLMapper().readTree(AsyncApiDocument.text());

        // then
        assertThat(document.path("asyncapi").asText()).isEqualTo("3.0.0");
        assertThat(document.path("info").path("title").asText()).isNotBlank();
        assertThat(document.path("info").path("version").asText()).isNotBlank();
        assertThat(document).hasToString(AsyncApiDocument.document().toString());
        assertThat(document.path("channels")).hasSize(new Topics("").all().size());
        assertThat(document.path("channels")).allSatisfy(channel -> {
            assertThat(channel.path("address").asText()).startsWith(Topics.DEFAULT_PREFIX);
            assertThat(channel.path("messages")).isNotEmpty();
        });
        assertThat(document.path("operations"))
                .hasSize(document.path("channels").size())
                .allSatisfy(operation -> {
                    assertThat(operation.path("action").asText()).isIn("send", "receive");
                    assertThat(operation.path("messages")).isNotEmpty();
                });
        assertThat(document.path("components").path("messages"))
                .allSatisfy(message ->
                        assertThat(message.path("payload").isObject()).isTrue());
    }

    @Test
    void shouldResolveEveryReference() throws IOException {
        // given
        JsonNode document = new YAMLMapper().readTree(AsyncApiDocument.text());

        // when
        List<String> references = document.findValuesAsText("$ref");

        // then
        assertThat(references).hasSizeGreaterThan(100).allSatisfy(reference -> {
            assertThat(reference).startsWith("#/");
            assertThat(document.at(reference.substring(1)).isObject())
                    .as(reference)
                    .isTrue();
        });
    }

    @Test
    void shouldPointFromAnOperationToMessagesOfItsOwnChannel() throws IOException {
        // given
        JsonNode document = new YAMLMapper().readTree(AsyncApiDocument.text());

        // then
        assertThat(document.path("operations")).allSatisfy(operation -> {
            String channel = operation.path("channel").path("$ref").asText();
            assertThat(operation.path("messages"))
                    .allSatisfy(
                            message -> assertThat(message.path("$ref").asText()).startsWith(channel + "/messages/"));
        });
    }

    private static void assertUpToDate(String name, String expected) throws IOException {
        Path file = docs().resolve(name);
        if (Boolean.getBoolean(WRITE_PROPERTY)) {
            Files.writeString(file, expected);
        }
        assertThat(Files.exists(file) ? Files.readString(file) : "")
                .as("docs/%s is stale; rewrite it with %s", name, COMMAND)
                .isEqualTo(expected);
    }

    /** The folder of the documents: beside the module, wherever the build is started. */
    private static Path docs() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no folder above this one has an mvnw");
        }
        return folder.resolve("docs");
    }

    /** What a link to this heading says. */
    static String anchor(String heading) {
        return String.join(
                "-",
                Arrays.asList(heading.toLowerCase(Locale.ROOT)
                        .replaceAll("[^a-z0-9 _-]", "")
                        .split(" ", -1)));
    }
}
