package dev.millrace.tools.mcp;

import dev.millrace.schemas.Json;
import io.modelcontextprotocol.spec.McpSchema.AudioContent;
import io.modelcontextprotocol.spec.McpSchema.BlobResourceContents;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Content;
import io.modelcontextprotocol.spec.McpSchema.EmbeddedResource;
import io.modelcontextprotocol.spec.McpSchema.ImageContent;
import io.modelcontextprotocol.spec.McpSchema.ResourceLink;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a server answers, as JSON values for a model: text as it is; of pictures, sound and other bytes only what they
 * are, since a model that reads text has no use for them.
 */
final class SdkResults {

    private SdkResults() {}

    static McpConnection.Result of(CallToolResult result) {
        List<Content> content = Objects.requireNonNullElse(result.content(), List.of());
        if (Boolean.TRUE.equals(result.isError())) {
            return new McpConnection.Result(errorText(content), true);
        }
        // what is structured is for programs; servers repeat it as text, for models
        Object structured = result.structuredContent();
        String text = onlyText(content);
        boolean same = structured != null && (content.isEmpty() || (text != null && isJsonOf(text, structured)));
        return new McpConnection.Result(same ? structured : plain(content), false);
    }

    private static String errorText(List<Content> content) {
        String text = content.stream()
                .filter(TextContent.class::isInstance)
                .map(part -> ((TextContent) part).text())
                .filter(Objects::nonNull)
                .collect(Collectors.joining("\n"));
        return text.isBlank() ? "the tool failed and did not say why" : text;
    }

    private static @Nullable Object plain(List<Content> content) {
        if (content.isEmpty()) {
            return null;
        }
        String text = onlyText(content);
        return text != null ? text : content.stream().map(SdkResults::part).toList();
    }

    private static @Nullable String onlyText(List<Content> content) {
        return content.size() == 1 && content.getFirst() instanceof TextContent text ? text.text() : null;
    }

    private static boolean isJsonOf(String text, Object structured) {
        try {
            return Json.MAPPER.readTree(text).equals(Json.MAPPER.readTree(Json.write(structured)));
        } catch (IOException e) {
            return false;
        }
    }

    private static Map<String, @Nullable Object> part(Content content) {
        return switch (content) {
            case TextContent text -> described("text", "text", text.text());
            case ImageContent image -> bytes("image", image.mimeType(), image.data(), null);
            case AudioContent audio -> bytes("audio", audio.mimeType(), audio.data(), null);
            case ResourceLink link -> {
                Map<String, @Nullable Object> part = described("resource_link", "uri", link.uri());
                putIfThere(part, "name", link.name());
                putIfThere(part, "title", link.title());
                putIfThere(part, "description", link.description());
                putIfThere(part, "mimeType", link.mimeType());
                putIfThere(part, "size", link.size());
                yield part;
            }
            case EmbeddedResource embedded ->
                switch (embedded.resource()) {
                    case TextResourceContents text -> {
                        Map<String, @Nullable Object> part = described("resource", "uri", text.uri());
                        putIfThere(part, "mimeType", text.mimeType());
                        part.put("text", text.text());
                        yield part;
                    }
                    case BlobResourceContents blob -> bytes("resource", blob.mimeType(), blob.blob(), blob.uri());
                    default -> described("resource", "uri", embedded.resource().uri());
                };
            default -> described(String.valueOf(content.type()), "note", "content of this kind is not passed on");
        };
    }

    private static Map<String, @Nullable Object> bytes(
            String type, @Nullable String mimeType, @Nullable String base64, @Nullable String uri) {
        Map<String, @Nullable Object> part = described(type, "note", "the bytes are not passed on");
        putIfThere(part, "uri", uri);
        putIfThere(part, "mimeType", mimeType);
        part.put("bytes", base64 == null ? 0 : size(base64));
        return part;
    }

    /** How many bytes this Base64 stands for, give or take what is wrong with it. */
    private static int size(String base64) {
        int padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
        return base64.length() / 4 * 3 - padding;
    }

    private static Map<String, @Nullable Object> described(String type, String field, @Nullable Object value) {
        Map<String, @Nullable Object> part = new LinkedHashMap<>();
        part.put("type", type);
        part.put(field, value);
        return part;
    }

    private static void putIfThere(Map<String, @Nullable Object> part, String field, @Nullable Object value) {
        if (value != null) {
            part.put(field, value);
        }
    }
}
