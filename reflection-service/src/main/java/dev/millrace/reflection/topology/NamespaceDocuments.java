package dev.millrace.reflection.topology;

import dev.millrace.engine.Outgoing;
import dev.millrace.engine.Sender;
import dev.millrace.reflection.core.Documents;
import dev.millrace.reflection.core.Markdown;
import dev.millrace.reflection.core.MemoryPath;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The documents of one namespace in the store, and the only place that writes one: the row and its records on the {@code
 * memory} topic, in the transaction of the record that is being taken. For one stream thread.
 */
final class NamespaceDocuments implements Documents {

    /** Header of every record of the memory topic: id of the call or edit that it comes from; also of one without a value. */
    static final String CHANGE = "millrace-change";
    /** Header of every record of the memory topic: the version that the document has from there on. */
    static final String VERSION = "millrace-version";

    private final KeyValueStore<String, DocumentRow> store;
    private final Publication publication;
    private final String namespace;

    /**
     * How changes are published.
     *
     * @param keptVersions how many older versions of a document are kept, 0 or more
     */
    record Publication(Sender sender, Topics topics, int keptVersions) {}

    /**
     * Who changes a document, and when.
     *
     * @param by for people and for the record
     * @param changeId of the call or edit
     */
    record Author(String by, String changeId, Instant now) {}

    NamespaceDocuments(KeyValueStore<String, DocumentRow> store, Publication publication, String namespace) {
        this.store = store;
        this.publication = publication;
        this.namespace = namespace;
    }

    @Override
    public @Nullable String content(MemoryPath path) {
        DocumentRow row = row(path);
        return row == null ? null : row.content();
    }

    @Override
    public SortedMap<MemoryPath, String> all() {
        SortedMap<MemoryPath, String> all = new TreeMap<>();
        try (KeyValueIterator<String, DocumentRow> rows =
                store.range(Stores.firstKey(namespace), Stores.endKey(namespace))) {
            rows.forEachRemaining(row -> {
                if (row.value.content() != null) {
                    all.put(Stores.path(row.key), row.value.content());
                }
            });
        }
        return all;
    }

    /** What is known of a document; {@code null} = there has never been one. */
    @Nullable
    DocumentRow row(MemoryPath path) {
        return store.get(Stores.documentKey(namespace, path));
    }

    /**
     * Gives a document this content.
     *
     * @param content {@code null} = the document is gone from now on
     */
    void write(MemoryPath path, @Nullable String content, Author author) {
        DocumentRow before = row(path);
        long version = before == null ? 1 : before.version() + 1;
        DocumentRow after = new DocumentRow(version, content, author.now().toString(), author.by(), author.changeId());
        store.put(Stores.documentKey(namespace, path), after);
        if (before != null && before.content() != null && publication.keptVersions() > 0) {
            publish(MemoryDocument.key(namespace, path.text(), before.version()), document(path, before), after);
        }
        long tooOld = version - 1 - publication.keptVersions();
        if (tooOld >= 1 && publication.keptVersions() > 0) {
            publish(MemoryDocument.key(namespace, path.text(), tooOld), null, after);
        }
        publish(MemoryDocument.key(namespace, path.text()), content == null ? null : document(path, after), after);
    }

    private MemoryDocument document(MemoryPath path, DocumentRow row) {
        String content = row.content() == null ? "" : row.content();
        return new MemoryDocument(
                namespace,
                path.text(),
                row.version(),
                content,
                Markdown.summary(content),
                Markdown.size(content),
                row.updatedAt(),
                row.updatedBy(),
                row.changeId());
    }

    private void publish(String key, @Nullable MemoryDocument document, DocumentRow cause) {
        Headers headers = new RecordHeaders();
        headers.add(CHANGE, cause.changeId().getBytes(StandardCharsets.UTF_8));
        headers.add(VERSION, Long.toString(cause.version()).getBytes(StandardCharsets.UTF_8));
        publication
                .sender()
                .forward(
                        key.getBytes(StandardCharsets.UTF_8),
                        new Outgoing(publication.topics().memory(), document == null ? null : document.toJson()),
                        Instant.parse(cause.updatedAt()),
                        headers);
    }
}
