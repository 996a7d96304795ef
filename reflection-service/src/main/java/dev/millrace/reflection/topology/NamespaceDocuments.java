package dev.millrace.reflection.topology;

import dev.millrace.engine.Outgoing;
import dev.millrace.engine.Sender;
import dev.millrace.reflection.core.Documents;
import dev.millrace.reflection.core.Markdown;
import dev.millrace.reflection.core.MemoryException;
import dev.millrace.reflection.core.MemoryPath;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.MemoryDocument;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The documents of one namespace in the store, and the only place that writes one: the row and its records on the
 * {@code memory} topic, in the transaction of the record that is being taken. For one stream thread.
 */
final class NamespaceDocuments implements Documents {

    private final Rows rows;
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
     * The rows of all namespaces.
     *
     * @param documents by {@link MemoryStores#documentKey}
     * @param extents what each namespace has in all, by its name
     */
    record Rows(KeyValueStore<String, DocumentRow> documents, KeyValueStore<String, Extent> extents) {}

    /**
     * How changes are published.
     *
     * @param settings which versions are kept, and how much there may be
     */
    record Publication(Sender sender, MemorySettings settings) {}

    /**
     * Who changes a document, and when.
     *
     * @param by for people and for the record
     * @param changeId of the call or edit
     */
    record Author(String by, String changeId, Instant now) {}

    NamespaceDocuments(Rows rows, Publication publication, String namespace, Gone gone) {
        this.rows = rows;
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
    public void each(@Nullable MemoryPath after, Taker taker) {
        // nothing sorts between a key and the same with the smallest character behind it
        String from = after == null
                ? MemoryStores.firstKey(namespace)
                : MemoryStores.documentKey(namespace, after) + '\u0000';
        try (KeyValueIterator<String, DocumentRow> found =
                rows.documents().range(from, MemoryStores.endKey(namespace))) {
            boolean more = true;
            while (more && found.hasNext()) {
                KeyValue<String, DocumentRow> row = found.next();
                String content = row.value.content();
                if (content != null && !gone.isGone(row.key)) {
                    more = taker.take(new Document(
                            MemoryStores.path(row.key),
                            content,
                            Instant.parse(row.value.updatedAt()).toEpochMilli()));
                }
            }
        }
    }

    @Override
    public Extent extent() {
        Extent known = rows.extents().get(namespace);
        if (known != null) {
            return known;
        }
        long[] counted = new long[2];
        each(null, document -> {
            counted[0]++;
            counted[1] += Markdown.size(document.content());
            return true;
        });
        Extent extent = new Extent(counted[0], counted[1]);
        rows.extents().put(namespace, extent);
        return extent;
    }

    /** What is known of a document; {@code null} = there has never been one. */
    @Nullable
    DocumentRow row(MemoryPath path) {
        String key = MemoryStores.documentKey(namespace, path);
        return gone.isGone(key) ? null : rows.documents().get(key);
    }

    /**
     * Gives a document this content.
     *
     * @param content {@code null} = the document is gone from now on
     * @throws MemoryException {@code memory_full} if there is no room for it; nothing is written
     */
    void write(MemoryPath path, @Nullable String content, Author author) throws MemoryException {
        write(path, content, author, false);
    }

    /** The same for a person's edit, whose id is the author's change; its answer is in the record. */
    void edit(MemoryPath path, @Nullable String content, Author author) throws MemoryException {
        write(path, content, author, true);
    }

    /**
     * Answers an edit that changes nothing, or nothing any more, with the document as it is.
     *
     * @param outcome a version, or why not; see {@link HeaderNames#OUTCOME}
     */
    void answer(MemoryPath path, String editId, String outcome, Instant now) {
        DocumentRow row = row(path);
        Headers headers = row == null ? new RecordHeaders() : headers(row);
        addAnswer(headers, editId, outcome);
        publish(MemoryDocument.key(namespace, path.text()), row == null ? null : asItIs(path, row), now, headers);
    }

    private void write(MemoryPath path, @Nullable String content, Author author, boolean edit) throws MemoryException {
        removeIfGone(path, author);
        DocumentRow before = row(path);
        makeRoom(before == null ? null : before.content(), content);
        long version = before == null ? 1 : before.version() + 1;
        DocumentRow changed = new DocumentRow(
                version,
                content,
                author.now().toString(),
                author.by(),
                author.changeId(),
                before == null ? List.of() : before.edits());
        DocumentRow after = edit ? changed.remembering(author.changeId()) : changed;
        rows.documents().put(MemoryStores.documentKey(namespace, path), after);
        publishVersions(path, before, after);
        Headers headers = headers(after);
        if (edit) {
            addAnswer(headers, author.changeId(), Long.toString(version));
        }
        publish(MemoryDocument.key(namespace, path.text()), asItIs(path, after), author.now(), headers);
    }

    private void makeRoom(@Nullable String before, @Nullable String after) throws MemoryException {
        Extent now = extent();
        Extent then = now.plus(
                (after == null ? 0 : 1) - (before == null ? 0 : 1),
                (after == null ? 0 : Markdown.size(after)) - (before == null ? 0 : Markdown.size(before)));
        publication.settings().capacity().check(now, then);
        rows.extents().put(namespace, then);
    }

    /** What is from now on an older version, and the one that is too old. */
    private void publishVersions(MemoryPath path, @Nullable DocumentRow before, DocumentRow after) {
        if (publication.settings().keptVersions() == 0) {
            return;
        }
        if (before != null && before.content() != null) {
            publishVersion(path, before.version(), document(path, before), after);
        }
        if (after.content() == null) {
            // of what is gone there is no record as it is now: who took it away is said here alone
            publishVersion(path, after.version(), document(path, after), after);
        }
        long tooOld = after.version() - 1 - publication.settings().keptVersions();
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
        String key = MemoryStores.documentKey(namespace, path);
        if (gone.isGone(key)) {
            DocumentRow row = rows.documents().get(key);
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
        String from = removal.nextKey() == null ? MemoryStores.firstKey(namespace) : removal.nextKey();
        try (KeyValueIterator<String, DocumentRow> found =
                rows.documents().range(from, MemoryStores.endKey(namespace))) {
            while (found.hasNext() && nextKey == null) {
                if (some.size() == RECORDS_AT_ONCE) {
                    nextKey = found.peekNextKey();
                } else {
                    KeyValue<String, DocumentRow> row = found.next();
                    some.add(new Found(row.key, row.value.version(), row.value.content() != null));
                }
            }
        }
        if (removal.nextKey() == null) {
            rows.extents().delete(namespace); // counted again without what is gone
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
        remove(MemoryDocument.key(namespace, MemoryStores.path(documentKey).text()), changeId, now);
        rows.documents().delete(documentKey);
    }

    /** Also of versions that are no longer kept: how many are is a setting, which may have been another one. */
    private void removeVersions(String documentKey, long first, long last, String changeId, Instant now) {
        String path = MemoryStores.path(documentKey).text();
        for (long version = first; version <= last; version++) {
            remove(MemoryDocument.key(namespace, path, version), changeId, now);
        }
    }

    private void remove(String key, String changeId, Instant now) {
        Headers headers = new RecordHeaders();
        headers.add(HeaderNames.CHANGE, bytes(changeId));
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
        headers.add(HeaderNames.CHANGE, bytes(cause.changeId()));
        headers.add(HeaderNames.VERSION, bytes(Long.toString(cause.version())));
        return headers;
    }

    private static void addAnswer(Headers headers, String editId, String outcome) {
        headers.add(HeaderNames.ANSWER, bytes(editId));
        headers.add(HeaderNames.OUTCOME, bytes(outcome));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void publish(String key, @Nullable MemoryDocument document, Instant now, Headers headers) {
        publication
                .sender()
                .forward(
                        bytes(key),
                        new Outgoing(
                                publication.settings().topics().memory(), document == null ? null : document.toJson()),
                        now,
                        headers);
    }
}
