package dev.millrace.tools.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An MCP server on standard input and output that does what real ones do only by accident. Its first argument is a file to
 * which it writes down what it is told; the second, if any, how it misbehaves from the start.
 */
final class StubMcpServer {

    private final Path diary;
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final List<String> tools =
            new ArrayList<>(List.of("meta", "slow", "die", "no", "refuse", "grow", "shrink"));

    private StubMcpServer(Path diary) {
        this.diary = diary;
    }

    public static void main(String[] args) throws IOException {
        String fault = args.length > 1 ? args[1] : "";
        StubMcpServer server = new StubMcpServer(Path.of(args[0]));
        server.note("started");
        System.err.println("the stub says hello");
        if (fault.equals("dies-at-once")) {
            System.err.println("it is not my day");
            System.exit(3);
        }
        server.out.println("Welcome to the stub!");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            server.take(Json.MAPPER.readTree(line), fault);
        }
        server.note("ended");
    }

    /** The command line of such a server. */
    static McpServer.Stdio described(String name, Path diary, String... fault) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                StubMcpServer.class.getName(),
                diary.toString()));
        command.addAll(List.of(fault));
        return new McpServer.Stdio(name, command, Map.of(), null, McpServer.Terms.NONE);
    }

    private void take(JsonNode message, String fault) throws IOException {
        note(message.toString());
        String method = message.path("method").asText("");
        switch (method) {
            case "initialize" ->
                answer(
                        message,
                        Map.of(
                                "protocolVersion",
                                message.at("/params/protocolVersion").asText(),
                                "capabilities",
                                Map.of("tools", Map.of("listChanged", true)),
                                "serverInfo",
                                Map.of("name", "stub", "version", "1")));
            case "tools/list" -> {
                if (fault.equals("does-not-list")) {
                    refuse(message, "no list today");
                } else {
                    list(message);
                }
            }
            case "tools/call" -> call(message);
            default -> note("nothing to do");
        }
    }

    /** Two to a page. */
    private void list(JsonNode message) {
        int from = message.at("/params/cursor").asInt(0);
        int to = Math.min(from + 2, tools.size());
        Map<String, Object> page = new LinkedHashMap<>();
        page.put(
                "tools",
                tools.subList(from, to).stream()
                        .map(name -> Map.of(
                                "name",
                                name,
                                "description",
                                "does " + name,
                                "inputSchema",
                                Map.of("type", "object"),
                                "annotations",
                                Map.of("readOnlyHint", name.equals("meta"), "idempotentHint", name.equals("slow"))))
                        .toList());
        if (to < tools.size()) {
            page.put("nextCursor", String.valueOf(to));
        }
        answer(message, page);
    }

    private void call(JsonNode message) {
        switch (message.at("/params/name").asText()) {
            case "meta" -> text(message, message.at("/params/_meta").toString(), false);
            case "no" -> text(message, "I would rather not", true);
            case "refuse" -> refuse(message, "these arguments are an insult");
            case "die" -> System.exit(7);
            case "grow" -> {
                tools.add("grown");
                changed();
                text(message, "grown", false);
            }
            case "shrink" -> {
                tools.remove("grown");
                changed();
                text(message, "shrunk", false);
            }
            default -> System.err.println("this will take for ever");
        }
    }

    private void changed() {
        out.println("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    }

    private void text(JsonNode message, String text, boolean isError) {
        answer(message, Map.of("content", List.of(Map.of("type", "text", "text", text)), "isError", isError));
    }

    private void refuse(JsonNode message, String why) {
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("jsonrpc", "2.0");
        answer.put("id", Json.MAPPER.convertValue(message.get("id"), Object.class));
        answer.put("error", Map.of("code", -32602, "message", why));
        out.println(Json.writeText(answer));
    }

    private void answer(JsonNode message, Map<String, Object> result) {
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("jsonrpc", "2.0");
        answer.put("id", Json.MAPPER.convertValue(message.get("id"), Object.class));
        answer.put("result", result);
        out.println(Json.writeText(answer));
    }

    private void note(String what) throws IOException {
        Files.writeString(diary, what + '\n', StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
