package dev.millrace.agent.projection;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that the journal has told to forget and that may still be in the store: who reads leaves them out, and {@link
 * ForgetSweep} removes them bit by bit.
 *
 * @param scope what is forgotten
 * @param forgetId the request that this goes back to
 * @param requestedAt what came later stays, in Unix milliseconds
 * @param told the place of TASKS_FORGOTTEN: it means what stands before it on its partition
 * @param next the key to go on with, in hexadecimal digits; {@code null} = the first
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record OpenForget(
        ForgetScope scope,
        String forgetId,
        long requestedAt,
        JournalCursor told,
        @Nullable String next) {

    /** What TASKS_FORGOTTEN says; empty if it says nothing about tasks. */
    static Optional<OpenForget> of(JournalEntry entry) {
        Event event = entry.event();
        if (!(event.payload() instanceof Payload.TasksForgotten told)) {
            return Optional.empty();
        }
        return ForgetScope.of(event)
                .filter(scope -> scope.kind() != ForgetScope.Kind.MEMORY)
                .map(scope -> new OpenForget(scope, told.forgetId(), told.requestedAt(), entry.cursor(), null));
    }

    /** All that are in the store. */
    static List<OpenForget> allIn(ReadOnlyKeyValueStore<Bytes, byte[]> rows) {
        List<OpenForget> all = new ArrayList<>();
        Bytes prefix = ProjectionKeys.forgettings();
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(prefix, Bytes.increment(prefix))) {
            range.forEachRemaining(row -> all.add(fromJson(row.value)));
        }
        return all;
    }

    OpenForget goingOnAt(String key) {
        return new OpenForget(scope, forgetId, requestedAt, told, key);
    }

    /** Whether this row is to go. */
    boolean means(TaskRow row) {
        boolean there =
                row.last().partition() == told.partition() || row.first().partition() == told.partition();
        // a date after the last write of the row is one that a sender made up, before ADR 0024
        long created =
                row.origin().createdAt() > row.storedAt() ? 0 : row.origin().createdAt();
        return there
                && created <= requestedAt
                && !row.name().taskId().equals(forgetId)
                && scope.contains(
                        row.name().namespace(),
                        row.name().taskId(),
                        row.origin().sessionId());
    }

    byte[] toJson() {
        return Json.write(this);
    }

    private static OpenForget fromJson(byte[] json) {
        try {
            return Json.MAPPER.readValue(json, OpenForget.class);
        } catch (IOException e) {
            throw new UncheckedIOException("the projection's own row cannot be read", e);
        }
    }
}
