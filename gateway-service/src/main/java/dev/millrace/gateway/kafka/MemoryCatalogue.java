package dev.millrace.gateway.kafka;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What there is in memory and where on its topic the contents lie, which are not kept here. Filled by one thread, asked
 * by any.
 */
final class MemoryCatalogue {
    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryCatalogue.class);

    private final ConcurrentNavigableMap<String, ConcurrentNavigableMap<String, Versions>> namespaces =
            new ConcurrentSkipListMap<>();

    /**
     * A version and the record that has its content.
     *
     * @param partition of the topic
     * @param offset of the record; what lies there is something else once the record has a successor
     */
    record Kept(MemoryVersion about, int partition, long offset) {}

    private record Versions(@Nullable Kept current, NavigableMap<Long, Kept> older) {

        static final Versions NONE = new Versions(null, new TreeMap<>());

        Versions withCurrent(@Nullable Kept kept) {
            return new Versions(kept, older);
        }

        Versions withOlder(long version, @Nullable Kept kept) {
            NavigableMap<Long, Kept> changed = new TreeMap<>(older);
            if (kept == null) {
                changed.remove(version);
            } else {
                changed.put(version, kept);
            }
            return new Versions(current, changed);
        }
    }

    /** Takes a record of the memory topic; one that is none of memory is passed over. */
    void take(ConsumerRecord<byte[], byte[]> consumed) {
        MemoryDocument.Key key = consumed.key() == null
                ? null
                : MemoryDocument.Key.of(new String(consumed.key(), StandardCharsets.UTF_8));
        if (key == null) {
            return;
        }
        try {
            Kept kept = consumed.value() == null ? null : kept(key.path(), consumed);
            Long version = key.version();
            change(
                    key,
                    version == null
                            ? versions -> versions.withCurrent(kept)
                            : versions -> versions.withOlder(version, kept));
        } catch (MalformedEventException e) {
            LOGGER.atWarn()
                    .addKeyValue("partition", consumed.partition())
                    .addKeyValue("offset", consumed.offset())
                    .addKeyValue("errorCode", e.code())
                    .log("The memory topic holds a record that is no document; nobody is shown it");
        }
    }

    /** There is nothing, as at the beginning. */
    void clear() {
        namespaces.clear();
    }

    private static Kept kept(String path, ConsumerRecord<byte[], byte[]> consumed) throws MalformedEventException {
        MemoryDocument document = MemoryDocument.fromJson(consumed.value());
        return new Kept(
                new MemoryVersion(
                        path,
                        document.version(),
                        document.tag(),
                        document.summary(),
                        document.size(),
                        document.updatedAt(),
                        document.updatedBy(),
                        document.deleted()),
                consumed.partition(),
                consumed.offset());
    }

    private void change(MemoryDocument.Key key, UnaryOperator<Versions> change) {
        namespaces.compute(key.namespace(), (namespace, known) -> {
            ConcurrentNavigableMap<String, Versions> documents = known == null ? new ConcurrentSkipListMap<>() : known;
            documents.compute(key.path(), (path, versions) -> {
                Versions changed = change.apply(versions == null ? Versions.NONE : versions);
                return changed.current() == null && changed.older().isEmpty() ? null : changed;
            });
            return documents.isEmpty() ? null : documents;
        });
    }

    /** The document as it is now; empty if it is not there. */
    Optional<Kept> current(String namespace, String path) {
        return Optional.ofNullable(versions(namespace, path).current());
    }

    /** One version of a document, the current one too; empty if it is not kept. */
    Optional<Kept> version(String namespace, String path, long version) {
        Versions versions = versions(namespace, path);
        Kept current = versions.current();
        return current != null && current.about().version() == version
                ? Optional.of(current)
                : Optional.ofNullable(versions.older().get(version));
    }

    /** All versions of a document that are kept, the newest first. */
    List<MemoryVersion> history(String namespace, String path) {
        Versions versions = versions(namespace, path);
        List<MemoryVersion> history = new ArrayList<>();
        if (versions.current() != null) {
            history.add(versions.current().about());
        }
        versions.older().descendingMap().values().forEach(kept -> history.add(kept.about()));
        return history;
    }

    /**
     * Documents as they are now, by path.
     *
     * @param after only paths after this one; empty = from the first on
     */
    List<MemoryVersion> documents(String namespace, String after, int limit) {
        return namespaces.getOrDefault(namespace, new ConcurrentSkipListMap<>()).tailMap(after, false).values().stream()
                .flatMap(versions -> Optional.ofNullable(versions.current()).stream())
                .map(Kept::about)
                .limit(limit)
                .toList();
    }

    /**
     * How many documents there are, and how large they are together, by namespace; those without any are left out.
     *
     * @param after only namespaces after this one; empty = from the first on
     * @param limit at most so many
     */
    SortedMap<String, Memory.Extent> extents(String after, int limit) {
        SortedMap<String, Memory.Extent> extents = new TreeMap<>();
        for (String namespace : namespaces.tailMap(after, false).keySet()) {
            List<MemoryVersion> current = documents(namespace, "", Integer.MAX_VALUE);
            if (!current.isEmpty()) {
                extents.put(
                        namespace,
                        new Memory.Extent(
                                current.size(),
                                current.stream().mapToLong(MemoryVersion::size).sum()));
            }
            if (extents.size() >= limit) {
                break;
            }
        }
        return extents;
    }

    private Versions versions(String namespace, String path) {
        ConcurrentNavigableMap<String, Versions> documents = namespaces.get(namespace);
        Versions versions = documents == null ? null : documents.get(path);
        return versions == null ? Versions.NONE : versions;
    }
}
