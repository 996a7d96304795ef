package dev.millrace.knowledge.index;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An entity as the topic has it: what the texts that mention it say of it together.
 *
 * @param scope within which names mean the same
 * @param name what the first text calls it
 * @param description of the latest text that has one; {@code null} = none has
 * @param aliases what it is called as well
 * @param model that made the vector
 * @param vector of the name, of length 1; shared, not to be changed
 * @param firstSeenAt RFC 3339
 * @param changedAt RFC 3339
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StoredEntity(
        String id,
        String namespace,
        String scope,
        String name,
        String type,
        @Nullable String description,
        List<String> aliases,
        String model,
        float[] vector,
        String firstSeenAt,
        String changedAt) {
    public StoredEntity {
        aliases = List.copyOf(aliases);
    }
}
