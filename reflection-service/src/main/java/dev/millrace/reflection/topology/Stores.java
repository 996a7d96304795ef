package dev.millrace.reflection.topology;

import dev.millrace.engine.JsonSerdes;
import dev.millrace.engine.MachineStreams;
import dev.millrace.reflection.core.MemoryPath;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import java.util.Map;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;

/** The stores of the memory topology, by name: changing a name orphans a changelog. */
public final class Stores {

    /** Documents by {@link #documentKey}. */
    public static final String DOCUMENTS = "documents";

    /** Reflections that have not ended, by {@link #reflectionKey}. */
    public static final String REFLECTIONS = "reflections";
    /** Their model calls that are out, by {@link ReflectionCall#key()}. */
    static final String CALLS = "calls";

    /** When namespaces were forgotten, in Unix milliseconds, by their names. */
    static final String FORGOTTEN = "forgotten";

    private static final Map<String, String> CHANGELOG = MachineStreams.CHANGELOG;
    // stands between the parts of a key; ids hold no control characters
    private static final char SEPARATOR = '\u0000';
    private static final char AFTER_SEPARATOR = '\u0001';

    private Stores() {}

    static StoreBuilder<KeyValueStore<String, DocumentRow>> documents() {
        return keyValue(DOCUMENTS, JsonSerdes.of(Json.MAPPER, DocumentRow.class));
    }

    static StoreBuilder<KeyValueStore<String, ReflectionRow>> reflections() {
        return keyValue(REFLECTIONS, JsonSerdes.of(JsonSerdes.WITH_EVENTS, ReflectionRow.class));
    }

    static StoreBuilder<KeyValueStore<String, ReflectionCall>> calls() {
        return keyValue(CALLS, JsonSerdes.of(JsonSerdes.WITH_EVENTS, ReflectionCall.class));
    }

    static StoreBuilder<KeyValueStore<String, Long>> forgotten() {
        return keyValue(FORGOTTEN, Serdes.Long());
    }

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

    /** The path in the key of a document. */
    static MemoryPath path(String documentKey) {
        return new MemoryPath(documentKey.substring(documentKey.indexOf(SEPARATOR) + 1));
    }

    static <V> StoreBuilder<KeyValueStore<String, V>> keyValue(String name, Serde<V> serde) {
        return org.apache.kafka.streams.state.Stores.keyValueStoreBuilder(
                        org.apache.kafka.streams.state.Stores.persistentKeyValueStore(name), Serdes.String(), serde)
                .withCachingEnabled()
                .withLoggingEnabled(CHANGELOG);
    }
}
