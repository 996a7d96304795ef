package dev.millrace.tools.content;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;
import static dev.millrace.tools.JsonSchemas.wholeNumber;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code read_result{reference,offset?,length?}}: gives out a large result page by page. The texts of all pages, one after
 * the other, are the result byte for byte in UTF-8.
 */
public final class ReadResult implements Tool {

    /** What models call it. */
    public static final String NAME = "read_result";

    private static final int DEFAULT_LENGTH = 20_000;
    private static final int MAX_REFERENCE = 100;

    private final ContentStore store;
    private final int maxResultBytes;

    /** Gives pages that, as JSON, are not larger than {@code maxResultBytes}, 1000 or more. */
    public ReadResult(ContentStore store, int maxResultBytes) {
        this.store = store;
        this.maxResultBytes = maxResultBytes;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                NAME,
                "Reads on in a tool result that was too long to be passed on at once. The result of the first call said"
                        + " its reference.",
                object(
                        Map.of(
                                "reference",
                                text("The reference of the result.", MAX_REFERENCE),
                                "offset",
                                wholeNumber(
                                        "The first byte to read. Absent = 0; then nextOffset of the page before.", 0),
                                "length",
                                wholeNumber("How many bytes at most. Absent = " + DEFAULT_LENGTH + ".", 1)),
                        "reference"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        String reference = String.valueOf(params.get("reference"));
        long offset = params.get("offset") instanceof Number number ? number.longValue() : 0;
        long wanted = params.get("length") instanceof Number number ? number.longValue() : DEFAULT_LENGTH;
        int length = (int) Math.min(Math.max(wanted, 4), maxResultBytes);
        ContentStore.Slice slice = store.read(Owner.of(context), reference, offset, length);
        byte[] bytes = slice.bytes();
        // an offset inside a character is one that no page gave; the text begins with the next character
        int from = offset == 0 ? 0 : Utf8.nextStart(bytes, 0);
        int size = Utf8.fitting(
                Arrays.copyOfRange(bytes, from, bytes.length), maxResultBytes - LargeResults.ENVELOPE_BYTES);
        long next = offset + from + size;
        Map<String, Object> page = new LinkedHashMap<>();
        page.put("reference", reference);
        page.put("contentType", slice.contentType());
        page.put("totalBytes", slice.totalBytes());
        page.put("offset", offset + from);
        if (next < slice.totalBytes()) {
            page.put("nextOffset", next);
        }
        page.put("text", new String(bytes, from, size, StandardCharsets.UTF_8));
        return page;
    }
}
