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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The documents of one namespace in the store, and the only place that writes one: the row and its records on the {@code
 * memory} topic, in the transaction of the record that is being taken. For one stream thread.
 */
final class NamespaceDocuments implements Documents {

    private final KeyValueStore<String, DocumentRow> store;
    private final Publication publication;
    private final String namespace;
    private final Gone gone;

    /** So many records are written in one turn of {@link #forget}. */
    static final int RECORDS_AT_ONCE = 500;

    /** Which rows are still there of documents that have been forgotten. */
    interface Gone {

        /** Whether the document of this key is forgotten. */
        boolean isGone(String documentKey);

        /** It has been removed, and written anew: from now on it is not gone. */
        void written(String documentKey, boolean hadContent);
    }

    /**
     * What is left to remove.
     *
     * @param changeId of the event that wants it
     * @param nextKey the row to go on with; {@code null} = the first
     * @param nextVersion its version to go on with
     * @param except keys of documents that stay
     */
    record Removal(String changeId, @Nullable String nextKey, long nextVersion, Set<String> except) {}

    /**
     * What has been removed.
     *
     * @param documents how many documents
     * @param nextKey the row to go on with; {@code null} = there is no more
     * @param nextVersion its version to go on with
     */
    record Removed(long documents, @Nullable String nextKey, long nextVersion) {}

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

    NamespaceDocuments(KeyValueStore<String, DocumentRow> store, Publication publication, String namespace, Gone gone) {
        this.store = store;
        this.publication = publication;
        this.namespace = namespace;
        this.gone = gone;
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
                if (row.value.content() != null && !gone.isGone(row.key)) {
                    all.put(Stores.path(row.key), row.value.content());
                }
            });
        }
        return all;
    }

    /** What is known of a document; {@code null} = there has never been one. */
    @Nullable
    DocumentRow row(MemoryPath path) {
        String key = Stores.documentKey(namespace, path);
        return gone.isGone(key) ? null : store.get(key);
    }

    /**
     * Gives a document this content.
     *
     * @param content {@code null} = the document is gone from now on
     */
    void write(MemoryPath path, @Nullable String content, Author author) {
        write(path, content, author, false);
    }

    /** The same for a person's edit, whose id is the author's change; its answer is in the record. */
    void edit(MemoryPath path, @Nullable String content, Author author) {
        write(path, content, author, true);
    }

    /**
     * Answers an edit that changes nothing, or nothing any more, with the document as it is.
     *
     * @param outcome a version, or why not; see {@link MemoryDocument#OUTCOME_HEADER}
     */
    void answer(MemoryPath path, String editId, String outcome, Instant now) {
        DocumentRow row = row(path);
        Headers headers = row == null ? new RecordHeaders() : headers(row);
        addAnswer(headers, editId, outcome);
        publish(MemoryDocument.key(namespace, path.text()), row == null ? null : asItIs(path, row), now, headers);
    }

    private void write(MemoryPath path, @Nullable String content, Author author, boolean edit) {
        removeIfGone(path, author);
        DocumentRow before = row(path);
        long version = before == null ? 1 : before.version() + 1;
        DocumentRow changed = new DocumentRow(
                version,
                content,
                author.now().toString(),
                author.by(),
                author.changeId(),
                before == null ? List.of() : before.edits());
        DocumentRow after = edit ? changed.remembering(author.changeId()) : changed;
        store.put(Stores.documentKey(namespace, path), after);
        publishVersions(path, before, after);
        Headers headers = headers(after);
        if (edit) {
            addAnswer(headers, author.changeId(), Long.toString(version));
        }
        publish(MemoryDocument.key(namespace, path.text()), asItIs(path, after), author.now(), headers);
    }

    /** What is from now on an older version, and the one that is too old. */
    private void publishVersions(MemoryPath path, @Nullable DocumentRow before, DocumentRow after) {
        if (publication.keptVersions() == 0) {
            return;
        }
        if (before != null && before.content() != null) {
            publishVersion(path, before.version(), document(path, before), after);
        }
        if (after.content() == null) {
            // of what is gone there is no record as it is now: who took it away is said here alone
            publishVersion(path, after.version(), document(path, after), after);
        }
        long tooOld = after.version() - 1 - publication.keptVersions();
        if (tooOld >= 1) {
            publishVersion(path, tooOld, null, after);
        }
    }

    private void publishVersion(MemoryPath path, long version, @Nullable MemoryDocument document, DocumentRow cause) {
        publish(
                MemoryDocument.key(namespace, path.text(), version),
                document,
                Instant.parse(cause.updatedAt()),
                headers(cause));
    }

    private @Nullable MemoryDocument asItIs(MemoryPath path, DocumentRow row) {
        return row.content() == null ? null : document(path, row);
    }

    /** What is forgotten and not removed yet is, before anything new stands in its place. */
    private void removeIfGone(MemoryPath path, Author author) {
        String key = Stores.documentKey(namespace, path);
        if (gone.isGone(key)) {
            DocumentRow row = store.get(key);
            if (row != null) {
                remove(key, 1, row.version(), author.changeId(), author.now());
            }
            gone.written(key, row != null && row.content() != null);
        }
    }

    /** Removes some documents with all their versions, and what was known of those that were gone already. */
    Removed forget(Removal removal, Instant now) {
        record Found(String key, long versions, boolean isThere) {}
        List<Found> some = new ArrayList<>();
        String nextKey = null;
        String from = removal.nextKey() == null ? Stores.firstKey(namespace) : removal.nextKey();
        try (KeyValueIterator<String, DocumentRow> rows = store.range(from, Stores.endKey(namespace))) {
            while (rows.hasNext() && nextKey == null) {
                if (some.size() == RECORDS_AT_ONCE) {
                    nextKey = rows.peekNextKey();
                } else {
                    KeyValue<String, DocumentRow> row = rows.next();
                    some.add(new Found(row.key, row.value.version(), row.value.content() != null));
                }
            }
        }
        long documents = 0;
        int left = RECORDS_AT_ONCE;
        for (Found document : some) {
            if (removal.except().contains(document.key())) {
                continue;
            }
            long first = document.key().equals(removal.nextKey()) ? removal.nextVersion() : 1;
            long versions = document.versions() - first + 1;
            if (versions >= left) {
                removeVersions(document.key(), first, first + left - 1, removal.changeId(), now);
                return new Removed(documents, document.key(), first + left);
            }
            remove(document.key(), first, document.versions(), removal.changeId(), now);
            left -= (int) versions + 1;
            documents += document.isThere() ? 1 : 0;
        }
        return new Removed(documents, nextKey, 1);
    }

    private void remove(String documentKey, long first, long last, String changeId, Instant now) {
        removeVersions(documentKey, first, last, changeId, now);
        remove(MemoryDocument.key(namespace, Stores.path(documentKey).text()), changeId, now);
        store.delete(documentKey);
    }

    /** Also of versions that are no longer kept: how many are is a setting, which may have been another one. */
    private void removeVersions(String documentKey, long first, long last, String changeId, Instant now) {
        String path = Stores.path(documentKey).text();
        for (long version = first; version <= last; version++) {
            remove(MemoryDocument.key(namespace, path, version), changeId, now);
        }
    }

    private void remove(String key, String changeId, Instant now) {
        Headers headers = new RecordHeaders();
        headers.add(MemoryDocument.CHANGE_HEADER, bytes(changeId));
        publish(key, null, now, headers);
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
                row.changeId(),
                row.content() == null);
    }

    private static Headers headers(DocumentRow cause) {
        Headers headers = new RecordHeaders();
        headers.add(MemoryDocument.CHANGE_HEADER, bytes(cause.changeId()));
        headers.add(MemoryDocument.VERSION_HEADER, bytes(Long.toString(cause.version())));
        return headers;
    }

    private static void addAnswer(Headers headers, String editId, String outcome) {
        headers.add(MemoryDocument.ANSWER_HEADER, bytes(editId));
        headers.add(MemoryDocument.OUTCOME_HEADER, bytes(outcome));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void publish(String key, @Nullable MemoryDocument document, Instant now, Headers headers) {
        publication
                .sender()
                .forward(
                        bytes(key),
                        new Outgoing(publication.topics().memory(), document == null ? null : document.toJson()),
                        now,
                        headers);
    }
}
