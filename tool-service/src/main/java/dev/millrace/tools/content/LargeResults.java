package dev.millrace.tools.content;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.Json;
import dev.millrace.tool.api.ToolContext;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Cuts results that are too large to pass on, and keeps them whole for {@link ReadResult}. */
public final class LargeResults {

    /** The smallest limit of a result, in bytes. */
    public static final int MIN_RESULT_BYTES = 1_000;
    /** The largest limit: an event with everything around it fits into a record. */
    public static final int MAX_RESULT_BYTES = 900_000;
    /** What a cut result, or a page, needs beside its text. */
    static final int ENVELOPE_BYTES = 700;

    /** Some below what the schemas of events allow, since a result lies inside of its event. */
    private static final int MAX_DEPTH = EventSchemas.MAX_DEPTH - 10;

    private static final Logger LOGGER = LoggerFactory.getLogger(LargeResults.class);

    private final ContentStore store;
    private final int maxResultBytes;
    private final int maxContentBytes;

    /**
     * Cuts at these limits.
     *
     * @param maxResultBytes the largest result as JSON that is passed on, 1000 to 900000
     * @param maxContentBytes how much of a larger one is kept, {@code maxResultBytes} or more
     */
    public LargeResults(ContentStore store, int maxResultBytes, int maxContentBytes) {
        if (maxResultBytes < MIN_RESULT_BYTES || maxResultBytes > MAX_RESULT_BYTES) {
            throw new IllegalArgumentException("millrace.tools.max-result-size: expected " + MIN_RESULT_BYTES + " to "
                    + MAX_RESULT_BYTES + " bytes, found " + maxResultBytes);
        }
        if (maxContentBytes < maxResultBytes) {
            throw new IllegalArgumentException("millrace.tools.content.max-size: expected max-result-size ("
                    + maxResultBytes + ") or more, found " + maxContentBytes);
        }
        this.store = store;
        this.maxResultBytes = maxResultBytes;
        this.maxContentBytes = maxContentBytes;
    }

    /** The beginning of a result; without a reference the rest is lost. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Cut(
            boolean truncated, String note, @Nullable String reference, int totalBytes, String start) {}

    /**
     * The result as it is passed on: itself if it is small enough, else its beginning with a note and a reference.
     *
     * @throws IllegalArgumentException if it is not made of JSON values
     */
    public @Nullable Object passOn(@Nullable Object result, ToolContext context) throws InterruptedException {
        byte[] json = Json.write(result);
        boolean deep = isDeeperThan(MAX_DEPTH, result);
        if (json.length <= maxResultBytes && !deep) {
            return result;
        }
        if (deep && json.length <= maxResultBytes / 2 - ENVELOPE_BYTES) {
            return Map.of(
                    "note",
                    "The result is nested too deeply to be passed on as data, so this is its JSON text.",
                    "json",
                    new String(json, StandardCharsets.UTF_8));
        }
        boolean text = result instanceof String;
        byte[] content = result instanceof String string ? string.getBytes(StandardCharsets.UTF_8) : json;
        byte[] kept = content.length <= maxContentBytes
                ? content
                : Arrays.copyOf(content, Utf8.fitting(Arrays.copyOf(content, maxContentBytes), Integer.MAX_VALUE));
        int startBytes = Utf8.fitting(
                Arrays.copyOf(kept, Math.min(kept.length, maxResultBytes)), (maxResultBytes - ENVELOPE_BYTES) / 2);
        String reference = null;
        String note;
        try {
            reference = store.put(Owner.of(context), context.callId(), kept, text ? "text/plain" : "application/json");
            note = note(content.length, kept.length, reference, startBytes);
        } catch (ContentStore.UnavailableException e) {
            LOGGER.atWarn()
                    .addKeyValue("callId", context.callId())
                    .addKeyValue("cause", String.valueOf(e.getMessage()))
                    .log("A large result could not be kept, only its beginning is passed on");
            note = "The result is " + content.length
                    + " bytes long, more than can be passed on, and could not be kept."
                    + " This is its beginning. Ask the tool for less, or for a part of it.";
        }
        String start = new String(kept, 0, startBytes, StandardCharsets.UTF_8);
        return Json.MAPPER.convertValue(new Cut(true, note, reference, content.length, start), Object.class);
    }

    private static boolean isDeeperThan(int levels, @Nullable Object json) {
        return switch (json) {
            case Map<?, ?> object ->
                levels == 0 || object.values().stream().anyMatch(value -> isDeeperThan(levels - 1, value));
            case List<?> list -> levels == 0 || list.stream().anyMatch(value -> isDeeperThan(levels - 1, value));
            case null, default -> false;
        };
    }

    private static String note(int all, int kept, String reference, int startBytes) {
        String lost = kept == all ? "" : " Only its first " + kept + " bytes are kept.";
        return "The result is " + all + " bytes long, too long to be passed on at once. \"start\" is its beginning."
                + lost + " Read on with the tool " + ReadResult.NAME + ": reference \"" + reference + "\", offset "
                + startBytes + ".";
    }
}
