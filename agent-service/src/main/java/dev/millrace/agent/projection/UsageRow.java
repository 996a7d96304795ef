package dev.millrace.agent.projection;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.millrace.api.UsageSums;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What was used within one hour of what a {@link UsageKey} names.
 *
 * @param applied by partition of the journal the offset of the last record that is in the sums: a record that comes
 *     again after a crash is known, because the sums and this are written at once
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record UsageRow(UsageSums sums, Map<Integer, Long> applied) {

    static final UsageRow NONE = new UsageRow(UsageSums.NONE, Map.of());

    UsageRow {
        applied = Map.copyOf(applied);
    }

    /** With what this record tells, unless it is in here already. */
    UsageRow plus(UsageSums more, JournalCursor cursor) {
        if (applied.getOrDefault(cursor.partition(), -1L) >= cursor.offset()) {
            return this;
        }
        Map<Integer, Long> now = new TreeMap<>(applied);
        now.put(cursor.partition(), cursor.offset());
        return new UsageRow(sums.plus(more), now);
    }

    byte[] toJson() {
        return Json.write(this);
    }

    /** Reads what {@link #toJson} wrote; nothing if there is nothing. */
    static UsageRow fromJson(byte @Nullable [] json) {
        if (json == null) {
            return NONE;
        }
        try {
            return Json.MAPPER.readValue(json, UsageRow.class);
        } catch (IOException e) {
            throw new UncheckedIOException("the projection's own row cannot be read", e);
        }
    }
}
