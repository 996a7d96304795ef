package dev.millrace.knowledge.kafka;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.index.StoredChunk;
import dev.millrace.knowledge.index.StoredEntity;
import dev.millrace.knowledge.index.StoredMentions;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Values of records on the topic of knowledge. */
final class KnowledgeRecords {

    private KnowledgeRecords() {}

    /** A chunk as JSON; the vector as 32-bit numbers, the least byte first, in Base64. */
    private record ChunkJson(
            @JsonProperty(required = true) String collection,
            @JsonProperty(required = true) String title,
            @JsonProperty(required = true) String source,
            @Nullable List<String> section,
            @JsonProperty(required = true) String text,
            @JsonProperty(required = true) String model,
            @JsonProperty(required = true) String vector) {}

    static byte[] document(KnowledgeView.Document document) {
        return Json.write(document);
    }

    static KnowledgeView.Document document(byte[] value) throws MalformedEventException {
        return read(value, KnowledgeView.Document.class);
    }

    /** An entity as JSON; the vector as that of a chunk. */
    private record EntityJson(
            @JsonProperty(required = true) String id,
            @JsonProperty(required = true) String namespace,
            @JsonProperty(required = true) String scope,
            @JsonProperty(required = true) String name,
            @JsonProperty(required = true) String type,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String description,

            @Nullable List<String> aliases,
            @JsonProperty(required = true) String model,
            @JsonProperty(required = true) String vector,
            @JsonProperty(required = true) String firstSeenAt,
            @JsonProperty(required = true) String changedAt) {}

    static byte[] entity(StoredEntity entity) {
        return Json.write(new EntityJson(
                entity.id(),
                entity.namespace(),
                entity.scope(),
                entity.name(),
                entity.type(),
                entity.description(),
                entity.aliases(),
                entity.model(),
                encoded(entity.vector()),
                entity.firstSeenAt(),
                entity.changedAt()));
    }

    static StoredEntity entity(byte[] value) throws MalformedEventException {
        EntityJson json = read(value, EntityJson.class);
        try {
            return new StoredEntity(
                    json.id(),
                    json.namespace(),
                    json.scope(),
                    json.name(),
                    json.type(),
                    json.description(),
                    json.aliases() == null ? List.of() : json.aliases(),
                    json.model(),
                    decoded(json.vector()),
                    json.firstSeenAt(),
                    json.changedAt());
        } catch (IllegalArgumentException e) {
            throw new MalformedEventException("bad_entity", "expected an entity: " + e.getMessage());
        }
    }

    static byte[] mentions(StoredMentions mentions) {
        return Json.write(mentions);
    }

    static StoredMentions mentions(byte[] value) throws MalformedEventException {
        return read(value, StoredMentions.class);
    }

    private static String encoded(float[] vector) {
        ByteBuffer bytes = ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(vector);
        return Base64.getEncoder().encodeToString(bytes.array());
    }

    private static float[] decoded(String text) {
        byte[] bytes = Base64.getDecoder().decode(text);
        float[] vector = new float[bytes.length / Float.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(vector);
        return vector;
    }

    static byte[] chunk(StoredChunk chunk) {
        return Json.write(new ChunkJson(
                chunk.collection(),
                chunk.title(),
                chunk.source(),
                chunk.section(),
                chunk.text(),
                chunk.model(),
                encoded(chunk.vector())));
    }

    /** What a record of this key says: {@code chunk/namespace/document/version/number}. */
    static StoredChunk chunk(String key, byte[] value) throws MalformedEventException {
        String[] parts = key.split("/", -1);
        ChunkJson json = read(value, ChunkJson.class);
        try {
            return new StoredChunk(
                    KnowledgeKeys.decoded(parts[1]),
                    json.collection(),
                    parts[2],
                    parts[3],
                    Integer.parseInt(parts[4]),
                    json.title(),
                    json.source(),
                    json.section() == null ? List.of() : json.section(),
                    json.text(),
                    json.model(),
                    decoded(json.vector()));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new MalformedEventException("bad_chunk", "expected a chunk of knowledge: " + e.getMessage());
        }
    }

    /** The key of the document that a chunk with this key is of. */
    static String documentOf(String chunkKey) throws MalformedEventException {
        String[] parts = chunkKey.split("/", -1);
        if (parts.length != 5) {
            throw new MalformedEventException("bad_chunk", "expected a key of five parts, found " + chunkKey);
        }
        return KnowledgeKeys.DOCUMENT + parts[1] + '/' + parts[2];
    }

    private static <T> T read(byte[] value, Class<T> type) throws MalformedEventException {
        try {
            return Json.MAPPER.readValue(value, type);
        } catch (JsonProcessingException e) {
            throw new MalformedEventException("bad_json", "expected a record of knowledge: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new MalformedEventException("bad_json", "expected a record of knowledge: " + e.getMessage());
        }
    }
}
