package dev.millrace.tools.content;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Size;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Gives out a large result page by page. The texts of all pages, one after
 * the other, are the result byte for byte in UTF-8.
 */
public final class ReadResult {

    /** What models call it. */
    public static final String NAME = "read_result";

    private static final long DEFAULT_LENGTH = 20_000;
    static final int MAX_REFERENCE = 100;

    private final ContentStore store;
    private final int maxResultBytes;

    /** Gives pages that, as JSON, are not larger than {@code maxResultBytes}, 1000 or more. */
    public ReadResult(ContentStore store, int maxResultBytes) {
        this.store = store;
        this.maxResultBytes = maxResultBytes;
    }

    /** Part of a result; there is no {@code nextOffset} after the last one. */
    record Page(
            String reference,
            String contentType,
            long totalBytes,
            long offset,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            Long nextOffset,

            String text) {}

    @Tool(
            name = NAME,
            value = "Reads on in a tool result that was too long to be passed on at once. The result of the first call"
                    + " said its reference.",
            sideEffects = SideEffects.READ_ONLY)
    Page read(
            @Param("The reference of the result.") @Size(min = 1, max = MAX_REFERENCE) String reference,
            @Param(name = "offset", value = "The first byte to read. Absent = 0; then nextOffset of the page before.")
                    Optional<@Min(0) Long> start,
            @Param(name = "length", value = "How many bytes at most. Absent = " + DEFAULT_LENGTH + ".")
                    Optional<@Min(1) Long> wanted,
            ToolContext context)
            throws ToolException, InterruptedException {
        long offset = start.orElse(0L);
        int length = (int) Math.min(Math.max(wanted.orElse(DEFAULT_LENGTH), 4), maxResultBytes);
        ContentStore.Slice slice = store.read(Owner.of(context), reference, offset, length);
        byte[] bytes = slice.bytes();
        // an offset inside a character is one that no page gave; the text begins with the next character
        int from = offset == 0 ? 0 : Utf8.nextStart(bytes, 0);
        int size = Utf8.fitting(
                Arrays.copyOfRange(bytes, from, bytes.length), maxResultBytes - LargeResults.ENVELOPE_BYTES);
        long next = offset + from + size;
        return new Page(
                reference,
                slice.contentType(),
                slice.totalBytes(),
                offset + from,
                next < slice.totalBytes() ? next : null,
                new String(bytes, from, size, StandardCharsets.UTF_8));
    }
}
