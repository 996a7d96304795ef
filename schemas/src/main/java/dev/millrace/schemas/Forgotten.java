package dev.millrace.schemas;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A record of the topic {@link Topics#forgotten}: what of the topics that are kept by time nobody is to be shown any
 * more.
 *
 * @param scope what is forgotten
 * @param atMs of a session or a namespace only what came up to this moment is, in Unix milliseconds; a task is as a
 *     whole
 */
public record Forgotten(ForgetScope scope, long atMs) {

    /** The record's value. */
    public byte[] toJson() {
        return Json.write(JsonObject.builder()
                .put("namespace", scope.namespace())
                .put("kind", scope.kind().wireName())
                .putIfPresent("id", scope.id())
                .put("forgottenAt", atMs)
                .build());
    }

    /** Reads {@link #toJson}; empty if the record says nothing of the kind. */
    public static Optional<Forgotten> fromJson(byte @Nullable [] value) {
        if (value == null) {
            return Optional.empty();
        }
        try {
            JsonObject json = Json.readObject(value);
            String id = json.get("id") instanceof String text ? text : null;
            return json.get("namespace") instanceof String namespace
                            && json.get("forgottenAt") instanceof Number at
                            && ForgetScope.Kind.of(json.get("kind")).isPresent()
                    ? Optional.of(new Forgotten(
                            new ForgetScope(
                                    ForgetScope.Kind.of(json.get("kind")).orElseThrow(), namespace, id),
                            at.longValue()))
                    : Optional.empty();
        } catch (MalformedEventException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
