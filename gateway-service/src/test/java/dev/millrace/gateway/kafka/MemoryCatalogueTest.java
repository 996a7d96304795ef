package dev.millrace.gateway.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.MemoryDocument;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MemoryCatalogueTest {
    private static final String PATH = "facts/user.md";

    private final MemoryCatalogue catalogue = new MemoryCatalogue();
    private long offset;

    @Test
    @DisplayName("what is shown is the newest record of each key, whatever was compacted away before it")
    void shouldShowDocumentsAndVersions() {
        take("default/" + PATH + "@1", document("default", PATH, 1));
        take("default/" + PATH + "@2", document("default", PATH, 2));
        take("default/" + PATH, document("default", PATH, 3));
        take("default/episodes/2026-11.md", document("default", "episodes/2026-11.md", 1));
        take("ada@example.org/" + PATH, document("ada@example.org", PATH, 1));
        take("default/" + PATH + "@1", null);

        assertThat(catalogue.documents("default", "", 10))
                .extracting(MemoryVersion::path)
                .containsExactly("episodes/2026-11.md", PATH);
        assertThat(catalogue.documents("default", "episodes/2026-11.md", 10))
                .extracting(MemoryVersion::version)
                .containsExactly(3L);
        assertThat(catalogue.documents("default", "", 1)).hasSize(1);
        assertThat(catalogue.history("default", PATH))
                .extracting(MemoryVersion::version)
                .containsExactly(3L, 2L);
        assertThat(catalogue.version("default", PATH, 3))
                .hasValueSatisfying(kept -> assertThat(kept.offset()).isEqualTo(2));
        assertThat(catalogue.version("default", PATH, 1)).isEmpty();
        assertThat(catalogue.extents("", 100)).containsOnlyKeys("default", "ada@example.org");
    }

    @Test
    void shouldGoThroughNamespacesInPages() {
        for (String namespace : List.of("c", "a", "b")) {
            take(namespace + "/" + PATH, document(namespace, PATH, 1));
        }
        take("aa/" + PATH + "@1", document("aa", PATH, 1)); // has a past, and no document

        assertThat(catalogue.extents("", 2)).containsOnlyKeys("a", "b");
        assertThat(catalogue.extents("a", 2)).containsOnlyKeys("b", "c");
        assertThat(catalogue.extents("c", 2)).isEmpty();
    }

    @Test
    void shouldForgetWhatIsGone() {
        take("default/" + PATH + "@1", document("default", PATH, 1));
        take("default/" + PATH, document("default", PATH, 2));
        take("default/" + PATH, null);

        assertThat(catalogue.current("default", PATH)).isEmpty();
        assertThat(catalogue.documents("default", "", 10)).isEmpty();
        assertThat(catalogue.extents("", 100)).isEmpty();
        assertThat(catalogue.history("default", PATH)).hasSize(1);

        take("default/" + PATH + "@1", null);
        assertThat(catalogue.history("default", PATH)).isEmpty();
    }

    @Test
    void shouldPassOverWhatIsNoneOfMemory() {
        take("garbage", document("default", PATH, 1));
        take("default/" + PATH + "@x", document("default", PATH, 1));
        take("default/" + PATH, "{".getBytes(StandardCharsets.UTF_8));

        assertThat(catalogue.extents("", 100)).isEmpty();
        assertThat(catalogue.history("default", PATH)).isEmpty();
    }

    private void take(String key, byte @Nullable [] value) {
        catalogue.take(new ConsumerRecord<>("memory", 0, offset++, key.getBytes(StandardCharsets.UTF_8), value));
    }

    private static byte[] document(String namespace, String path, long version) {
        return new MemoryDocument(
                        namespace, path, version, "text", "", 4, "2026-11-22T09:00:00Z", "task t1", "c" + version)
                .toJson();
    }
}
