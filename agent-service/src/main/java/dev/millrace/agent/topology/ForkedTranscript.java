package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Transcripts as they travel with the event that starts a fork, and back. */
final class ForkedTranscript {

    private static final String USER = "user";
    private static final String ASSISTANT = "assistant";
    private static final String TOOL = "tool";
    private static final String SUMMARY = "summary";

    private ForkedTranscript() {}

    /** What travels. */
    static List<Payload.TranscriptMessage> messages(List<TranscriptEntry> entries) {
        return entries.stream().map(ForkedTranscript::message).toList();
    }

    /**
     * What it was.
     *
     * @throws IllegalArgumentException if something is missing that an entry of its role has
     */
    static List<TranscriptEntry> entries(List<Payload.TranscriptMessage> messages) {
        return messages.stream().map(ForkedTranscript::entry).toList();
    }

    private static Payload.TranscriptMessage message(TranscriptEntry entry) {
        return switch (entry) {
            case TranscriptEntry.UserText said ->
                new Payload.TranscriptMessage(
                        USER,
                        said.text(),
                        said.images().stream()
                                .map(image -> new Payload.Image(image.mediaType(), image.data()))
                                .toList(),
                        List.of(),
                        null,
                        null,
                        null,
                        null,
                        null);
            case TranscriptEntry.Summary summary ->
                new Payload.TranscriptMessage(
                        SUMMARY, summary.text(), List.of(), List.of(), null, null, null, summary.request(), null);
            case TranscriptEntry.AssistantTurn turn ->
                new Payload.TranscriptMessage(
                        ASSISTANT,
                        turn.text(),
                        List.of(),
                        turn.toolCalls().stream().map(ForkedTranscript::call).toList(),
                        null,
                        null,
                        null,
                        null,
                        turn.continuation());
            case TranscriptEntry.ToolResult result ->
                new Payload.TranscriptMessage(
                        TOOL,
                        result.content(),
                        List.of(),
                        List.of(),
                        result.toolCallId(),
                        result.toolName(),
                        result.isError() ? Boolean.TRUE : null,
                        null,
                        null);
        };
    }

    private static Payload.TranscriptCall call(TranscriptEntry.Call call) {
        try {
            return new Payload.TranscriptCall(call.toolCallId(), call.toolName(), JsonObject.read(call.arguments()));
        } catch (MalformedEventException e) {
            throw new IllegalStateException("arguments in a transcript are no JSON object", e);
        }
    }

    private static TranscriptEntry entry(Payload.TranscriptMessage message) {
        return switch (message.role()) {
            case USER ->
                new TranscriptEntry.UserText(
                        required("text", message.text()),
                        message.images().stream()
                                .map(image -> new TranscriptEntry.Image(image.mediaType(), image.data()))
                                .toList());
            case SUMMARY -> new TranscriptEntry.Summary(required("text", message.text()), message.request());
            case ASSISTANT ->
                new TranscriptEntry.AssistantTurn(
                        message.text(),
                        message.toolCalls().stream()
                                .map(call -> new TranscriptEntry.Call(
                                        call.toolCallId(), call.toolName(), Json.writeText(call.arguments())))
                                .toList(),
                        message.continuation());
            case TOOL ->
                new TranscriptEntry.ToolResult(
                        required("toolCallId", message.toolCallId()),
                        required("toolName", message.toolName()),
                        required("text", message.text()),
                        Boolean.TRUE.equals(message.isError()));
            default -> throw new IllegalArgumentException("fork: expected a role, found " + message.role());
        };
    }

    private static String required(String field, @Nullable String value) {
        if (value == null) {
            throw new IllegalArgumentException("fork: expected " + field + ", found none");
        }
        return value;
    }
}
