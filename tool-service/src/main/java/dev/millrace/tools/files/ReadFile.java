package dev.millrace.tools.files;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import dev.millrace.tools.ToolException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code read_file{path,encoding?}}. */
public final class ReadFile implements Tool {

    private final Workspace workspace;
    private final int maxBytes;

    /** Reads files of at most {@code maxBytes}. */
    public ReadFile(Workspace workspace, int maxBytes) {
        this.workspace = workspace;
        this.maxBytes = maxBytes;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "read_file",
                "Reads a file of the workspace.",
                object(
                        Map.of(
                                "path",
                                text("Path relative to the workspace, such as docs/notes.txt.", 4_096),
                                "encoding",
                                Map.of(
                                        "type",
                                        "string",
                                        "enum",
                                        List.of("utf-8", "latin1", "base64"),
                                        "description",
                                        "How to turn bytes into text; base64 for binary files. Absent = utf-8.")),
                        "path"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        String path = String.valueOf(params.get("path"));
        byte[] bytes = workspace.read(path, maxBytes);
        if (bytes.length > maxBytes) {
            throw new ToolException(
                    "file_too_large",
                    "File \"" + path + "\" is larger than the " + maxBytes + " bytes that can be read at once");
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("path", path);
        result.put("content", decode(path, bytes, params.get("encoding") instanceof String name ? name : "utf-8"));
        result.put("sizeBytes", bytes.length);
        return result;
    }

    private static String decode(String path, byte[] bytes, String encoding) throws ToolException {
        if (encoding.equals("base64")) {
            return Base64.getEncoder().encodeToString(bytes);
        }
        Charset charset = encoding.equals("latin1") ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8;
        try {
            return charset.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw new ToolException(
                    "not_text", "File \"" + path + "\" is not UTF-8 text; read it with encoding latin1 or base64");
        }
    }
}
