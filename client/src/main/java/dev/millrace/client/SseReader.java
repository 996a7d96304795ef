package dev.millrace.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Cuts a stream of server-sent events into events (WHATWG HTML, section 9.2). Not thread-safe. */
final class SseReader {

    /** Where the lines come from; {@code null} at the end. */
    interface Lines {
        @Nullable
        String next() throws IOException;
    }

    private final Lines lines;
    private @Nullable String lastEventId;

    SseReader(Lines lines, @Nullable String lastEventId) {
        this.lines = lines;
        this.lastEventId = lastEventId;
    }

    /** The id to resume after: that of the newest event that had one. */
    @Nullable
    String lastEventId() {
        return lastEventId;
    }

    /** The data of the next event that has any; {@code null} at the end of the stream. Blocks. */
    @Nullable
    String next() throws IOException {
        StringBuilder data = new StringBuilder();
        boolean hasData = false;
        String id = null;
        for (String line = lines.next(); line != null; line = lines.next()) {
            if (line.isEmpty()) {
                if (id != null) {
                    lastEventId = id;
                }
                if (hasData) {
                    return data.toString();
                }
                continue;
            }
            int colon = line.indexOf(':');
            String field = colon < 0 ? line : line.substring(0, colon);
            String value = colon < 0 ? "" : line.substring(colon + 1);
            value = value.startsWith(" ") ? value.substring(1) : value;
            switch (field) {
                case "data" -> {
                    if (hasData) {
                        data.append('\n');
                    }
                    data.append(value);
                    hasData = true;
                }
                case "id" -> id = value;
                default -> {
                    // comments, which have no name, and fields that nobody needs here
                }
            }
        }
        return null; // an event that was cut off does not count
    }
}
