package dev.millrace.agent.telemetry;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.TraceContext;
import dev.millrace.telemetry.FinishedSpan;
import dev.millrace.telemetry.Telemetry;
import dev.millrace.telemetry.TelemetryKeys;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A span {@code chat} for each model call that ends, with all its attempts, from its first permit to its outcome. A
 * call that is made again after a crash is the same span again. Safe for any thread.
 */
public final class CallSpans {

    private final Telemetry telemetry;
    private final LanguageModel model;
    private final boolean content;
    private final Map<String, Asked> asked = new ConcurrentHashMap<>();

    /** What a call was asked, and when first; the request only where content is wanted. */
    private record Asked(
            Instant at, @Nullable String model, @Nullable ModelRequest request) {}

    /**
     * Spans for the calls of one dispatcher.
     *
     * @param content whether what is said goes into them
     */
    public CallSpans(Telemetry telemetry, LanguageModel model, boolean content) {
        this.telemetry = telemetry;
        this.model = model;
        this.content = content;
    }

    /** A call is about to ask this. */
    public void asking(OutstandingCall call, ModelRequest request, Instant now) {
        if (telemetry.on()) {
            asked.putIfAbsent(call.key(), new Asked(now, request.model(), content ? request : null));
        }
    }

    /** Nobody waits for this call any more. */
    public void dropped(OutstandingCall call) {
        asked.remove(call.key());
    }

    /** A call has ended. */
    public void ended(OutstandingCall call, ModelOutcome outcome, Instant now) {
        if (!telemetry.on()) {
            return;
        }
        Asked question = asked.remove(call.key());
        TraceContext task =
                TraceContext.ofTask(call.namespace(), call.taskId(), call.correlationId(), call.traceparent());
        String named = question == null ? null : question.model();
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put(TelemetryKeys.OPERATION_NAME, TelemetryKeys.CHAT);
        attributes.put(TelemetryKeys.PROVIDER_NAME, model.providerOf(named));
        attributes.put(TelemetryKeys.REQUEST_MODEL, named == null ? model.name() : named);
        attributes.put(TelemetryKeys.CONVERSATION_ID, call.sessionId() == null ? call.taskId() : call.sessionId());
        attributes.put(
                TelemetryKeys.AGENT_NAME, AgentDefinition.nameIn(call.agent().reference()));
        attributes.put(TelemetryKeys.TASK_ID, call.taskId());
        attributes.put(TelemetryKeys.CALL_ID, call.callId());
        attributes.put(TelemetryKeys.ATTEMPTS, (long) outcome.attempts());
        if (question != null && question.request() != null) {
            attributes.put(TelemetryKeys.INPUT_MESSAGES, Json.writeText(messages(question.request())));
        }
        String error = null;
        switch (outcome) {
            case ModelOutcome.Replied replied -> put(attributes, replied.reply());
            case ModelOutcome.Failed failed -> error = failed.error().code().wireName();
        }
        telemetry.emit(new FinishedSpan(
                TelemetryKeys.CHAT + " " + attributes.get(TelemetryKeys.REQUEST_MODEL),
                FinishedSpan.Kind.CLIENT,
                task.ofCall(call.namespace(), call.callId()),
                task.spanId(),
                question == null ? now : question.at(),
                now,
                attributes,
                error));
    }

    private void put(Map<String, Object> attributes, ModelReply reply) {
        attributes.put(TelemetryKeys.RESPONSE_MODEL, reply.model());
        attributes.put(
                TelemetryKeys.FINISH_REASONS, List.of(reply.finishReason().wireName()));
        attributes.put(TelemetryKeys.INPUT_TOKENS, reply.usage().inputTokens());
        attributes.put(TelemetryKeys.OUTPUT_TOKENS, reply.usage().outputTokens());
        if (reply.usage().cachedInputTokens() > 0) {
            attributes.put(TelemetryKeys.CACHED_TOKENS, reply.usage().cachedInputTokens());
        }
        if (content) {
            Map<String, Object> message = new LinkedHashMap<>(message("assistant", reply.text(), reply.toolCalls()));
            message.put("finish_reason", reply.finishReason().wireName());
            attributes.put(TelemetryKeys.OUTPUT_MESSAGES, Json.writeText(List.of(message)));
        }
    }

    private static List<Map<String, Object>> messages(ModelRequest request) {
        return request.messages().stream()
                .map(message -> switch (message) {
                    case ChatMessage.SystemMessage system -> message("system", system.text(), List.of());
                    case ChatMessage.UserMessage user -> message("user", user.text(), List.of());
                    case ChatMessage.AssistantMessage assistant ->
                        message("assistant", assistant.text(), assistant.toolCalls());
                    case ChatMessage.ToolMessage result ->
                        Map.<String, Object>of(
                                "role",
                                "tool",
                                "parts",
                                List.of(Map.of(
                                        "type",
                                        "tool_call_response",
                                        "id",
                                        result.toolCallId(),
                                        "response",
                                        result.content())));
                })
                .toList();
    }

    private static Map<String, Object> message(String role, @Nullable String text, List<ToolCallRequest> calls) {
        List<Map<String, Object>> parts = new ArrayList<>();
        if (text != null) {
            parts.add(Map.of("type", "text", "content", text));
        }
        for (ToolCallRequest call : calls) {
            parts.add(Map.of(
                    "type",
                    "tool_call",
                    "id",
                    call.toolCallId(),
                    "name",
                    call.toolName(),
                    "arguments",
                    call.arguments()));
        }
        return Map.of("role", role, "parts", parts);
    }
}
