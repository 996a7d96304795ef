package dev.millrace.tools;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.requests.Request;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.content.LargeResults;
import dev.millrace.tools.content.MemoryContent;
import dev.millrace.tools.java.JavaTools;
import dev.millrace.tools.secrets.Secrets;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Calls tools for tests. */
public final class Calls {

    /** On behalf of nobody in particular. */
    public static final ToolContext CONTEXT = new CallContext("task-1", null, "default", "call-1");

    private Calls() {}

    /** Carries out calls of these tools, and keeps what is too large in memory. */
    public static ToolExecutor executor(CallableTool... tools) {
        return executor(Secrets.NONE, tools);
    }

    /** The same with secrets. */
    public static ToolExecutor executor(Secrets secrets, CallableTool... tools) {
        return new ToolExecutor(
                new ToolRegistry(List.of(tools)),
                new CallGuards(ToolPolicies.NONE, 5, Duration.ofSeconds(30)),
                new LargeResults(new MemoryContent(), 100_000, 1_000_000),
                secrets,
                new SimpleMeterRegistry());
    }

    /** The tool of this name, of an object with such. */
    public static CallableTool tool(Object tools, String name) {
        return JavaTools.of(tools).stream()
                .filter(tool -> tool.definition().name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The result as the object that it is. */
    @SuppressWarnings("unchecked") // every tool returns a JSON object
    public static Map<String, Object> result(CallableTool tool, Map<String, @Nullable Object> params)
            throws ToolException, InterruptedException {
        Object result = tool.call(JsonObject.of(params), CONTEXT);
        if (result instanceof Map<?, ?> object) {
            return (Map<String, Object>) object;
        }
        throw new AssertionError("expected an object, found " + result);
    }

    /** The objects in a list of the result. */
    @SuppressWarnings("unchecked") // every list that a tool returns is one of objects
    public static List<Map<String, Object>> objects(Map<String, Object> result, String field) {
        if (result.get(field) instanceof List<?> list) {
            return (List<Map<String, Object>>) list;
        }
        throw new AssertionError("expected a list \"" + field + "\", found " + result);
    }

    /** The tool's "no". */
    public static ToolException refusal(CallableTool tool, Map<String, @Nullable Object> params) {
        ToolException no = catchThrowableOfType(ToolException.class, () -> tool.call(JsonObject.of(params), CONTEXT));
        if (no == null) {
            throw new AssertionError("expected the tool to refuse " + params);
        }
        return no;
    }

    /** A request; {@code timeoutMs} below 1 = it says nothing about time. */
    public static Request request(String toolName, Map<String, @Nullable Object> params, long timeoutMs) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", "call-1");
        payload.put("toolName", toolName);
        payload.put("params", params);
        if (timeoutMs >= 1) {
            payload.put("timeoutMs", timeoutMs);
        }
        try {
            return Request.of(
                    Event.root(
                                    "request-1",
                                    KnownEventType.TOOL_CALL_REQUESTED,
                                    Instant.ofEpochMilli(1_700_000_000_000L))
                            .taskId("task-1")
                            .parentEventId("parent-1")
                            .payload(payload)
                            .build(),
                    1);
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }
}
