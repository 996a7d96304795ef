package dev.millrace.reflection.topology;

import dev.millrace.engine.JsonSerdes;
import dev.millrace.engine.StoreSection;
import dev.millrace.reflection.core.Documents;
import dev.millrace.reflection.core.MemoryPath;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import java.util.List;
import org.apache.kafka.common.serialization.Serdes;

/** The one store of the memory topology and its sections: changing its name orphans a changelog. */
public final class MemoryStores {

    /** The rows of all sections. */
    public static final String ROWS = "rows";

    /** Documents by {@link #documentKey}. */
    static final StoreSection<DocumentRow> DOCUMENTS =
            new StoreSection<>('d', JsonSerdes.of(Json.MAPPER, DocumentRow.class));

    /** Reflections that have not ended, by {@link #reflectionKey}. */
    public static final StoreSection<ReflectionRow> REFLECTIONS =
            new StoreSection<>('r', JsonSerdes.of(JsonSerdes.WITH_EVENTS, ReflectionRow.class));

    /** Their model calls that are out, by {@link ReflectionCall#key()}. */
    static final StoreSection<ReflectionCall> CALLS =
            new StoreSection<>('c', JsonSerdes.of(JsonSerdes.WITH_EVENTS, ReflectionCall.class));

    /** When namespaces were forgotten, in Unix milliseconds, by their names. */
    static final StoreSection<Long> FORGOTTEN = new StoreSection<>('f', Serdes.Long());

    /** Namespaces whose documents are being forgotten, in the order in which that was asked for. */
    static final StoreSection<MemoryForgetting.Row> FORGETTING =
            new StoreSection<>('g', JsonSerdes.of(JsonSerdes.WITH_EVENTS, MemoryForgetting.Row.class));

    /**
     * How much a namespace remembers, by its name. There is none for a namespace that an older version has written,
     * until it is counted.
     */
    static final StoreSection<Documents.Extent> EXTENTS =
            new StoreSection<>('e', JsonSerdes.of(Json.MAPPER, Documents.Extent.class));

    /** Those whose keys are namespaces, or begin with one. */
    static final List<StoreSection<?>> BY_NAMESPACE = List.of(DOCUMENTS, REFLECTIONS, FORGOTTEN, EXTENTS);

    // stands between the parts of a key; ids hold no control characters
    private static final char SEPARATOR = '\u0000';
    private static final char AFTER_SEPARATOR = '\u0001';

    private MemoryStores() {}

    /** The key of the reflection that this event asks for. */
    static String reflectionKey(Event request) {
        return reflectionKey(request.namespace(), request.id());
    }

    /** The key of the reflection that the event of this id asks for. */
    static String reflectionKey(String namespace, String requestId) {
        return namespace + SEPARATOR + requestId;
    }

    /** The key of a document; those of a namespace lie together, by path. */
    static String documentKey(String namespace, MemoryPath path) {
        return namespace + SEPARATOR + path.text();
    }

    /** Before the first key of a namespace. */
    static String firstKey(String namespace) {
        return namespace + SEPARATOR;
    }

    /** After the last key of a namespace. */
    static String endKey(String namespace) {
        return namespace + AFTER_SEPARATOR;
    }

    /** The namespace that a key is, or begins with. */
    static String namespaceIn(String key) {
        int end = key.indexOf(SEPARATOR);
        return end < 0 ? key : key.substring(0, end);
    }

    /** The path in the key of a document. */
    static MemoryPath path(String documentKey) {
        return new MemoryPath(documentKey.substring(documentKey.indexOf(SEPARATOR) + 1));
    }
}
