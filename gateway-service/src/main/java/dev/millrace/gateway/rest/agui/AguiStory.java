package dev.millrace.gateway.rest.agui;

import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.turns.TurnEnd;
import dev.millrace.gateway.rest.turns.TurnFold;
import dev.millrace.gateway.rest.turns.TurnPart;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A turn as a run of AG-UI. For one thread. */
final class AguiStory implements TurnFold.Teller {
    /** The id of an interrupt that is a question begins with it; its task follows. */
    static final String QUESTION = "question/";

    private final AguiRequest request;
    private final Sink sink;
    private final TurnFold fold;
    private final List<Object> messages;
    private final Set<String> calls = new HashSet<>();

    private String taskId;
    private @Nullable String open;
    private boolean withdrawn;

    /** Takes what a run tells. */
    @FunctionalInterface
    interface Sink {
        void send(AguiEvent event) throws InterruptedException, ClientGoneException;
    }

    AguiStory(AguiRequest request, Event begin, Sink sink) {
        this.request = request;
        this.sink = sink;
        this.taskId = begin.taskId() == null ? begin.id() : begin.taskId();
        this.messages = new ArrayList<>(request.messages());
        this.fold = new TurnFold(begin, this);
    }

    TurnFold fold() {
        return fold;
    }

    String taskId() {
        return taskId;
    }

    @Override
    public void tell(TurnPart part) throws InterruptedException, ClientGoneException {
        switch (part) {
            case TurnPart.Began began -> {
                taskId = began.taskId();
                sink.send(new AguiEvent.RunStarted(request.threadId(), request.runId(), taskId));
            }
            case TurnPart.Words words -> words(words);
            case TurnPart.Withdrawn ignored -> {
                withdrawn = true;
                close();
            }
            case TurnPart.Said said -> {
                close();
                messages.add(new AguiEvent.Message(
                        messageId(said.step(), said.attempt()), "assistant", said.text(), null, null));
            }
            case TurnPart.ToolBegan began -> began(began.callId(), began.toolName(), Json.writeText(began.params()));
            case TurnPart.ToolEnded ended -> ended(ended);
            case TurnPart.Over over -> over(over);
        }
    }

    private void words(TurnPart.Words words) throws InterruptedException, ClientGoneException {
        String id = messageId(words.step(), words.attempt());
        if (!id.equals(open)) {
            close();
            open = id;
            sink.send(new AguiEvent.TextStart(id));
        }
        sink.send(new AguiEvent.TextContent(id, words.delta()));
    }

    /** What was said cannot be taken back, so each attempt is a message of its own. */
    private String messageId(long step, long attempt) {
        return request.runId() + "/" + step + "/" + attempt;
    }

    private void close() throws InterruptedException, ClientGoneException {
        if (open != null) {
            sink.send(new AguiEvent.TextEnd(open));
            open = null;
        }
    }

    private void began(String callId, String toolName, String arguments)
            throws InterruptedException, ClientGoneException {
        close();
        calls.add(callId);
        messages.add(new AguiEvent.Message(
                "call/" + callId,
                "assistant",
                null,
                List.of(new AguiEvent.Call(callId, "function", new AguiEvent.Function(toolName, arguments))),
                null));
        sink.send(new AguiEvent.ToolStart(callId, toolName));
        sink.send(new AguiEvent.ToolArgs(callId, arguments));
        sink.send(new AguiEvent.ToolEnd(callId));
    }

    private void ended(TurnPart.ToolEnded ended) throws InterruptedException, ClientGoneException {
        if (!calls.contains(ended.callId())) {
            began(ended.callId(), ended.toolName(), "{}");
        }
        String id = "result/" + ended.callId();
        String content = ended.error() != null
                ? ended.error()
                : ended.result() instanceof String words ? words : Json.writeText(ended.result());
        messages.add(new AguiEvent.Message(id, "tool", content, null, ended.callId()));
        sink.send(new AguiEvent.ToolResult(id, ended.callId(), content));
    }

    private void over(TurnPart.Over over) throws InterruptedException, ClientGoneException {
        close();
        if (withdrawn) {
            sink.send(new AguiEvent.Snapshot(List.copyOf(messages)));
        }
        Payload.Usage used = over.usage();
        if (over.end() instanceof TurnEnd.Failed failed) {
            sink.send(new AguiEvent.RunError(failed.error(), failed.code()));
            return;
        }
        if (over.end() instanceof TurnEnd.NotTaken late) {
            sink.send(new AguiEvent.RunError(late.words(taskId), TurnEnd.NotTaken.CODE));
            return;
        }
        if (!fold.begun()) {
            sink.send(new AguiEvent.RunStarted(request.threadId(), request.runId(), taskId));
        }
        sink.send(new AguiEvent.RunFinished(
                request.threadId(),
                request.runId(),
                outcome(over.end()),
                new AguiEvent.Usage(
                        used.inputTokens(), used.outputTokens(), used.inputTokens() + used.outputTokens())));
    }

    private AguiEvent.Outcome outcome(TurnEnd end) {
        return switch (end) {
            case TurnEnd.Answered ignored -> new AguiEvent.Outcome.Success();
            case TurnEnd.Cancelled ignored -> new AguiEvent.Outcome.Cancelled();
            case TurnEnd.NotTaken ignored -> throw new IllegalStateException("an error is no outcome");
            case TurnEnd.Failed ignored -> throw new IllegalStateException("an error is no outcome");
            case TurnEnd.Asked asked ->
                new AguiEvent.Outcome.Interrupted(List.of(new AguiEvent.Interrupt(
                        QUESTION + taskId,
                        "question",
                        asked.question(),
                        Map.of("type", "string"),
                        null,
                        Map.of("taskId", taskId))));
            case TurnEnd.NeedsApproval needs ->
                new AguiEvent.Outcome.Interrupted(
                        needs.calls().stream().map(this::approval).toList());
        };
    }

    private AguiEvent.Interrupt approval(Payload.ApprovalRequested call) {
        return new AguiEvent.Interrupt(
                call.callId(),
                "approval",
                TurnEnd.NeedsApproval.question(call),
                Map.of(
                        "type",
                        "object",
                        "properties",
                        Map.of("approved", Map.of("type", "boolean"), "reason", Map.of("type", "string")),
                        "required",
                        List.of("approved")),
                call.expiresAt(),
                Map.of("taskId", taskId, "toolName", call.toolName(), "params", call.params()));
    }
}
