package dev.millrace.tools.openapi;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.ToolNames;
import dev.millrace.tools.http.HttpCalls;
import java.net.URI;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP API whose operations are tools.
 *
 * @param name what the names of its tools begin with
 * @param document where its document is: a URL, or a file
 * @param baseUrl where the API is; {@code null} = as the document says
 * @param headers for each request; values may name secrets
 * @param include which operations become tools, by id; {@code *} stands for any text; empty = all
 * @param approval who has to agree before a call runs; {@code null} = nobody
 */
public record OpenApi(
        String name,
        String document,
        @Nullable String baseUrl,
        Map<String, String> headers,
        List<String> include,
        ToolDefinition.@Nullable Approval approval) {

    private static final Logger LOGGER = LoggerFactory.getLogger(OpenApi.class);

    public OpenApi(
            String name,
            String document,
            @Nullable String baseUrl,
            Map<String, String> headers,
            List<String> include,
            ToolDefinition.@Nullable Approval approval) {
        this.name = name;
        this.document = document;
        this.baseUrl = baseUrl;
        this.headers = Map.copyOf(headers);
        this.include = List.copyOf(include);
        this.approval = approval;
    }

    /** Whether the document has to be fetched. */
    public boolean isRemote() {
        return document.startsWith("http://") || document.startsWith("https://");
    }

    /**
     * Where its requests go, without a slash at the end.
     *
     * @throws IllegalArgumentException if the document is none, or neither it nor the operator says where
     */
    public String base(String text) {
        String url = baseUrl;
        if (url == null) {
            url = OpenApiDocument.of(text).server().orElse("");
            if (isRemote()) {
                url = URI.create(document).resolve(url).toString();
            }
        }
        if (!url.matches("https?://[^/].*")) {
            throw new IllegalArgumentException(
                    "the document names no server, so base-url must be set; found \"" + url + "\"");
        }
        return url.replaceFirst("[?#].*", "").replaceFirst("/+$", "");
    }

    /**
     * Its tools. An operation that cannot be called, or has the name of another one, is named in the log and left out.
     *
     * @param text of the document
     * @param calls that may reach the API
     * @throws IllegalArgumentException if the document is none
     */
    public List<CallableTool> tools(String text, HttpCalls calls) {
        String base = base(text);
        Pattern wanted = Pattern.compile(
                include.isEmpty() ? ".*" : include.stream().map(OpenApi::regex).collect(Collectors.joining("|")));
        Map<String, CallableTool> tools = new LinkedHashMap<>();
        for (Operation operation : OpenApiDocument.of(text).operations()) {
            if (wanted.matcher(operation.id()).matches()) {
                CallableTool tool = new OpenApiTool(this, base, ToolNames.of(name, operation.id()), operation, calls);
                CallableTool other = tools.putIfAbsent(tool.definition().name(), tool);
                if (other != null) {
                    LOGGER.atWarn()
                            .addKeyValue("toolName", tool.definition().name())
                            .addKeyValue("first", other.origin())
                            .addKeyValue("leftOut", tool.origin())
                            .log("Two operations of an API have the same id");
                }
            }
        }
        return List.copyOf(tools.values());
    }

    private static String regex(String pattern) {
        return Arrays.stream(pattern.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
    }
}
