package dev.millrace.tools.mcp;

import com.fasterxml.jackson.annotation.JsonInclude;
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
import java.util.List;
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
        return text != null
                ? text
                : Json.MAPPER.convertValue(
                        content.stream().map(SdkResults::part).toList(), Object.class);
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

    /** What a model is told of a part; of bytes, what they are. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Part(
            @Nullable String type,
            @Nullable String text,
            @Nullable String note,
            @Nullable String uri,
            @Nullable String name,
            @Nullable String title,
            @Nullable String description,
            @Nullable String mimeType,
            @Nullable Long size,
            @Nullable Integer bytes) {

        static Part text(String type, @Nullable String uri, @Nullable String mimeType, @Nullable String text) {
            return new Part(type, text, null, uri, null, null, null, mimeType, null, null);
        }

        static Part bytes(String type, @Nullable String uri, @Nullable String mimeType, @Nullable String base64) {
            int size = base64 == null ? 0 : SdkResults.size(base64);
            return new Part(type, null, "the bytes are not passed on", uri, null, null, null, mimeType, null, size);
        }
    }

    private static Part part(Content content) {
        return switch (content) {
            case TextContent text -> Part.text("text", null, null, text.text());
            case ImageContent image -> Part.bytes("image", null, image.mimeType(), image.data());
            case AudioContent audio -> Part.bytes("audio", null, audio.mimeType(), audio.data());
            case ResourceLink link ->
                new Part(
                        "resource_link",
                        null,
                        null,
                        link.uri(),
                        link.name(),
                        link.title(),
                        link.description(),
                        link.mimeType(),
                        link.size(),
                        null);
            case EmbeddedResource embedded ->
                switch (embedded.resource()) {
                    case TextResourceContents text -> Part.text("resource", text.uri(), text.mimeType(), text.text());
                    case BlobResourceContents blob -> Part.bytes("resource", blob.uri(), blob.mimeType(), blob.blob());
                    default -> Part.text("resource", embedded.resource().uri(), null, null);
                };
            default ->
                new Part(
                        content.type(),
                        null,
                        "content of this kind is not passed on",
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null);
        };
    }

    /** How many bytes this Base64 stands for, give or take what is wrong with it. */
    private static int size(String base64) {
        int padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
        return base64.length() / 4 * 3 - padding;
    }
}
