package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.LivePiece;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A task as an editor is told of it, made of its events and of live text. Facts alone make the same messages, in fewer
 * pieces. What was said cannot be taken back in this protocol: that it does not count is said as well. For one
 * thread, but for {@link #note}.
 */
final class AcpStory {

    /** Tools whose kind is known; any other is {@code other}. */
    private static final Map<String, String> KINDS = Map.ofEntries(
            Map.entry("read_file", "read"),
            Map.entry("get_file_info", "read"),
            Map.entry("read_result", "read"),
            Map.entry("memory_read", "read"),
            Map.entry("write_file", "edit"),
            Map.entry("edit_file", "edit"),
            Map.entry("memory_write", "edit"),
            Map.entry("memory_patch", "edit"),
            Map.entry("memory_append", "edit"),
            Map.entry("delete_file", "delete"),
            Map.entry("move_file", "move"),
            Map.entry("list_files", "search"),
            Map.entry("grep_files", "search"),
            Map.entry("memory_search", "search"),
            Map.entry("knowledge_search", "search"),
            Map.entry("web_search", "fetch"),
            Map.entry("http_get", "fetch"),
            Map.entry("http_request", "fetch"));

    private final boolean echo;
    private final boolean notices;
    private final Consumer<AcpUpdate> editor;

    private final Set<String> calls = new HashSet<>();
    private final Map<String, Payload.ApprovalRequested> undecided = new LinkedHashMap<>();
    private String callId = "";
    private int attempt;
    private final StringBuilder said = new StringBuilder();
    private boolean thought;
    private String lastSaid = "";
    private @Nullable String finishReason;
    private @Nullable Rest rest;

    /** Why a task does nothing more for now. */
    sealed interface Rest {

        /** It has its answer. */
        record Answered(@Nullable String finishReason) implements Rest {}

        /** It has failed. */
        record Failed(String code, String error) implements Rest {}

        /** Somebody has cancelled it. */
        record Cancelled() implements Rest {}

        /** It waits for an answer to what it has asked. */
        record Asked(String question) implements Rest {}
    }

    /**
     * Has taken nothing.
     *
     * @param echo whether what people say is told, since whoever reads has not said it here
     * @param notices whether the editor has a place for notices
     */
    AcpStory(boolean echo, boolean notices, Consumer<AcpUpdate> editor) {
        this.echo = echo;
        this.notices = notices;
        this.editor = editor;
    }

    /** Tool calls that wait for a decision, by their ids. */
    Map<String, Payload.ApprovalRequested> undecided() {
        return undecided;
    }

    /** Why it does nothing more; {@code null} = it goes on. */
    @Nullable
    Rest rest() {
        return rest;
    }

    /** The next event of the task, a fact or live text. */
    void take(JsonNode event) {
        if (EventType.of(event.path("type").asText("?")) instanceof StreamType type) {
            hear(type, Json.MAPPER.convertValue(event, LivePiece.class));
        } else {
            ToldEvent told = ToldEvent.of(event);
            take(told.id(), told.payload());
        }
    }

    /** Something to know that is no part of what is said. */
    void note(String text) {
        editor.accept(
                notices
                        ? new AcpUpdate.Notice(text)
                        : AcpUpdate.Chunk.ofAgent(
                                text + "\n\n", UUID.randomUUID().toString()));
    }

    private void hear(StreamType type, LivePiece piece) {
        int number = piece.attempt();
        if (!callId.equals(piece.callId())) {
            begin(piece.callId(), number);
        } else if (number > attempt) {
            withdraw();
            begin(piece.callId(), number);
        }
        String delta = Objects.requireNonNullElse(piece.delta(), "");
        if (number != attempt || delta.isEmpty()) {
            return;
        }
        if (type == StreamType.TEXT) {
            say(delta);
        } else if (type == StreamType.REASONING) {
            think(delta);
        }
    }

    private void begin(String call, int number) {
        callId = call;
        attempt = number;
        said.setLength(0);
        thought = false;
    }

    private void say(String delta) {
        said.append(delta);
        editor.accept(AcpUpdate.Chunk.ofAgent(delta, messageId()));
    }

    private void think(String delta) {
        thought = true;
        editor.accept(AcpUpdate.Chunk.thought(delta, messageId() + "/thought"));
    }

    private String messageId() {
        return callId + "/" + attempt;
    }

    /** What was said in this attempt does not count; it stands there, so that has to be said. */
    private void withdraw() {
        if (!said.isEmpty()) {
            editor.accept(AcpUpdate.Chunk.ofAgent(
                    "\n\n*The model was cut off. What it says above does not count.*\n\n", messageId()));
            said.setLength(0);
        }
    }

    private void take(String eventId, Payload payload) {
        switch (payload) {
            case Payload.MessageReceived message -> {
                goOn();
                // what one agent gives to another has been said already
                boolean again = message.thread() != null && message.thread().spokenIn() != null;
                echo(eventId, again ? null : message.said());
            }
            case Payload.TaskInput input -> {
                goOn();
                echo(eventId, input.text());
            }
            case Payload.TaskResumed resumed -> {
                goOn();
                echo(eventId, resumed.newInput());
            }
            case Payload.ReasonDone done -> {
                finishReason = done.finishReason();
                settle(done.callId(), done.response(), done.reasoning());
                use(done);
            }
            case Payload.NeedMoreInfo question -> settle(question.callId(), question.response(), null);
            case Payload.ModelCallFailed failed -> settle(failed.callId(), null, null);
            case Payload.ModelCallAbandoned abandoned -> settle(abandoned.callId(), null, null);
            case Payload.TaskNotify told -> note(told.message());
            case Payload.ApprovalRequested asked -> {
                undecided.put(asked.callId(), asked);
                call(asked.callId(), asked.toolName(), asked.params(), "pending");
            }
            case Payload.ApprovalDecided decided -> decided(decided);
            case Payload.ToolCallRequested requested -> {
                undecided.remove(requested.callId());
                call(requested.callId(), requested.toolName(), requested.params(), "in_progress");
            }
            case Payload.ToolCallCompleted done -> {
                Object result = done.result();
                ended(
                        done.callId(),
                        done.toolName(),
                        "completed",
                        result instanceof String text ? text : Json.writeText(result),
                        result);
            }
            case Payload.ToolCallFailed failed -> {
                undecided.remove(failed.callId());
                ended(
                        failed.callId(),
                        failed.toolName(),
                        "failed",
                        failed.error(),
                        Map.of("code", failed.code(), "error", failed.error()));
            }
            case Payload.TaskSuspended suspended -> suspended(eventId, suspended);
            case Payload.TaskCompleted completed -> {
                withdraw();
                answer(eventId, Objects.requireNonNullElse(completed.result().response(), ""));
                end(new Rest.Answered(finishReason));
            }
            case Payload.TaskFailed failed -> {
                withdraw();
                end(new Rest.Failed(failed.code(), failed.error()));
            }
            case Payload.TaskCancelled ignored -> end(new Rest.Cancelled());
            default -> {
                // nothing that an editor shows
            }
        }
    }

    private void goOn() {
        rest = null;
    }

    private void end(Rest why) {
        undecided.clear();
        rest = why;
    }

    private void echo(String eventId, @Nullable String text) {
        if (echo && text != null && !text.isBlank()) {
            editor.accept(AcpUpdate.Chunk.ofUser(text, eventId));
        }
    }

    /** The reply of a model call is this; {@code null} = there is none. */
    private void settle(String call, @Nullable String text, @Nullable String reasoning) {
        String whole = Objects.requireNonNullElse(text, "");
        if (!callId.equals(call)) {
            if (whole.isEmpty() && reasoning == null) {
                return; // what is given up late is not what is being said
            }
            begin(call, 1);
        } else if (whole.isEmpty() || !whole.startsWith(said.toString())) {
            withdraw();
            begin(call, attempt + 1);
        }
        if (!thought && said.isEmpty() && reasoning != null && !reasoning.isBlank()) {
            think(reasoning);
        }
        if (whole.length() > said.length()) {
            say(whole.substring(said.length()));
        }
        if (!whole.isEmpty()) {
            lastSaid = whole;
        }
        begin("", 0);
    }

    private void use(Payload.ReasonDone done) {
        Long window = done.contextWindow();
        Payload.Usage used = done.usage();
        if (window != null && window > 0 && used != null) {
            editor.accept(new AcpUpdate.Usage(used.inputTokens() + used.outputTokens(), window));
        }
    }

    /** Says what is no reply of the model, unless it has just said that. */
    private void answer(String eventId, String text) {
        if (!text.isEmpty() && !text.equals(lastSaid)) {
            lastSaid = text;
            editor.accept(AcpUpdate.Chunk.ofAgent(text, eventId));
        }
    }

    private void suspended(String eventId, Payload.TaskSuspended suspended) {
        String question = suspended.question();
        if (question == null) {
            note("The task is suspended until somebody resumes it"
                    + (suspended.reason() == null ? "." : ": " + suspended.reason()));
        } else {
            answer(eventId, question);
            end(new Rest.Asked(question));
        }
    }

    private void decided(Payload.ApprovalDecided decided) {
        Payload.ApprovalRequested asked = undecided.remove(decided.callId());
        if (asked != null && !decided.decision().equals("approve")) {
            ended(decided.callId(), asked.toolName(), "failed", Progress.decided(decided), null);
        }
    }

    private void call(String call, String tool, JsonObject params, String status) {
        String title = Progress.cut(tool + " " + Json.writeText(params));
        if (calls.add(call)) {
            String kind = KINDS.getOrDefault(tool, "other");
            editor.accept(AcpUpdate.ToolCall.begun(call, tool, title, kind, status, params));
        } else {
            editor.accept(AcpUpdate.ToolCall.running(call, title, params));
        }
    }

    private void ended(String call, String tool, String status, String words, @Nullable Object output) {
        if (!calls.contains(call)) {
            call(call, tool, JsonObject.empty(), "in_progress");
        }
        editor.accept(AcpUpdate.ToolCall.ended(call, status, words, output));
    }
}
