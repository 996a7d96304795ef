package dev.millrace.tools.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition.Approval;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The MCP servers of a configuration file in the form that other MCP hosts use:
 * {@code {"mcpServers": {"<name>": {…}}}}.
 *
 * @param servers those that are to be used, in the order of the file
 * @param rejected by name, why an entry is of no use; it is skipped, and the others are used
 */
public record McpConfiguration(List<McpServer> servers, Map<String, String> rejected) {

    /** No servers. */
    public static final McpConfiguration NONE = new McpConfiguration(List.of(), Map.of());

    /** {@code ${NAME}}, {@code ${env:NAME}} and {@code ${NAME:-otherwise}}. */
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?}");

    public McpConfiguration {
        servers = List.copyOf(servers);
        rejected = Map.copyOf(rejected);
    }

    /**
     * Reads a file.
     *
     * @param environment gives the value of a variable, {@code null} if there is none
     * @throws IllegalArgumentException if the file as a whole is of no use: not there, not JSON, no {@code mcpServers}
     */
    public static McpConfiguration read(Path file, UnaryOperator<@Nullable String> environment) {
        JsonNode root;
        try {
            root = Json.MAPPER.readTree(Files.readAllBytes(file));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    "MCP configuration " + file + ": expected JSON, found " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "MCP configuration " + file + ": expected a readable file, found " + e, e);
        }
        JsonNode entries = root == null ? null : root.get("mcpServers");
        if (entries == null || !entries.isObject()) {
            throw new IllegalArgumentException(
                    "MCP configuration " + file + ": expected an object \"mcpServers\", found none");
        }
        List<McpServer> servers = new ArrayList<>();
        Map<String, String> rejected = new LinkedHashMap<>();
        entries.properties().forEach(entry -> {
            try {
                if (!entry.getValue().path("disabled").asBoolean(false)) {
                    servers.add(server(entry.getKey(), entry.getValue(), environment));
                }
            } catch (IllegalArgumentException e) {
                rejected.put(entry.getKey(), String.valueOf(e.getMessage()));
            }
        });
        return new McpConfiguration(servers, rejected);
    }

    private static McpServer server(String name, JsonNode entry, UnaryOperator<@Nullable String> environment) {
        if (name.isBlank()) {
            throw new IllegalArgumentException("expected a name, found a blank one");
        }
        if (!entry.isObject()) {
            throw new IllegalArgumentException("expected an object");
        }
        String type = entry.path("type").asText(entry.path("transport").asText(""));
        if (type.equals("sse")) {
            throw new IllegalArgumentException(
                    "the old transport \"sse\" is not spoken; expected \"stdio\" or \"http\"");
        }
        String url = text(entry, "url", environment);
        String command = text(entry, "command", environment);
        if ((url == null) == (command == null)) {
            throw new IllegalArgumentException("expected either \"command\" or \"url\"");
        }
        McpServer.Terms terms = new McpServer.Terms(timeout(entry), approval(entry));
        if (url != null) {
            return new McpServer.Http(name, uri(url), texts(entry, "headers", environment), terms);
        }
        List<String> line = new ArrayList<>();
        line.add(String.valueOf(command));
        for (JsonNode argument : array(entry, "args")) {
            line.add(filled(argument.asText(), environment));
        }
        String folder = text(entry, "cwd", environment);
        return new McpServer.Stdio(
                name, line, texts(entry, "env", environment), folder == null ? null : Path.of(folder), terms);
    }

    private static Approval approval(JsonNode entry) {
        JsonNode value = entry.get("approval");
        return value == null ? new Approval.Never() : Approval.of(Json.MAPPER.convertValue(value, Object.class));
    }

    private static @Nullable Duration timeout(JsonNode entry) {
        JsonNode value = entry.get("timeoutMs");
        if (value == null) {
            return null;
        }
        if (!value.canConvertToLong() || value.asLong() < 1) {
            throw new IllegalArgumentException("timeoutMs: expected 1 or more, found " + value);
        }
        return Duration.ofMillis(value.asLong());
    }

    private static URI uri(String url) {
        try {
            URI uri = new URI(url);
            if (("http".equals(uri.getScheme()) || "https".equals(uri.getScheme())) && uri.getHost() != null) {
                return uri;
            }
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("url: expected one that begins with http:// or https://", e);
        }
        throw new IllegalArgumentException("url: expected one that begins with http:// or https://");
    }

    private static JsonNode array(JsonNode entry, String field) {
        JsonNode value = entry.path(field);
        if (!value.isMissingNode() && !value.isArray()) {
            throw new IllegalArgumentException(field + ": expected an array");
        }
        return value;
    }

    private static Map<String, String> texts(
            JsonNode entry, String field, UnaryOperator<@Nullable String> environment) {
        JsonNode value = entry.path(field);
        if (!value.isMissingNode() && !value.isObject()) {
            throw new IllegalArgumentException(field + ": expected an object");
        }
        Map<String, String> texts = new LinkedHashMap<>();
        value.properties()
                .forEach(each -> texts.put(each.getKey(), filled(each.getValue().asText(), environment)));
        return texts;
    }

    private static @Nullable String text(JsonNode entry, String field, UnaryOperator<@Nullable String> environment) {
        JsonNode value = entry.get(field);
        if (value == null || value.isNull()) {
            return null;
        }
        if (!value.isTextual() || value.asText().isBlank()) {
            throw new IllegalArgumentException(field + ": expected a text");
        }
        return filled(value.asText(), environment);
    }

    private static String filled(String text, UnaryOperator<@Nullable String> environment) {
        Matcher variables = VARIABLE.matcher(text);
        StringBuilder filled = new StringBuilder();
        while (variables.find()) {
            String value = environment.apply(variables.group(1));
            String found = value == null || value.isEmpty() ? variables.group(2) : value;
            if (found == null) {
                throw new IllegalArgumentException("the environment variable " + variables.group(1) + " is not set");
            }
            variables.appendReplacement(filled, Matcher.quoteReplacement(found));
        }
        return variables.appendTail(filled).toString();
    }
}
