package dev.millrace.gateway.rest.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.turns.TurnEnd;
import dev.millrace.gateway.rest.turns.TurnFold;
import dev.millrace.gateway.rest.turns.TurnPart;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A turn as what came of the call of a tool. For one thread. */
final class McpStory implements TurnFold.Teller {
    private static final String TASK = "millrace/taskId";

    private final TurnFold fold;
    private final McpRequest request;
    private final boolean mayDecide;
    private final Sink sink;
    private String taskId;
    private McpMessage.@Nullable Result result;
    private long steps;

    /** Takes what a client hears before the result. */
    @FunctionalInterface
    interface Sink {
        void send(McpMessage message) throws InterruptedException, ClientGoneException;
    }

    /**
     * A call that has become a turn.
     *
     * @param begin the event that the turn begins with
     * @param mayDecide whether the client's user may decide on tool calls
     */
    record Call(Event begin, McpRequest request, boolean mayDecide) {}

    McpStory(Call call, Sink sink) {
        Event begin = call.begin();
        this.request = call.request();
        this.mayDecide = call.mayDecide();
        this.sink = sink;
        this.taskId = begin.taskId() == null ? begin.id() : begin.taskId();
        this.fold = new TurnFold(begin.id(), this);
    }

    TurnFold fold() {
        return fold;
    }

    String taskId() {
        return taskId;
    }

    /** What came of it. Only when the turn is over. */
    McpMessage.Result result() {
        McpMessage.Result known = result;
        if (known == null) {
            throw new IllegalStateException("the turn is not over");
        }
        return known;
    }

    @Override
    public void tell(TurnPart part) throws InterruptedException, ClientGoneException {
        switch (part) {
            case TurnPart.Began began -> {
                taskId = began.taskId();
                progress("task " + taskId);
            }
            case TurnPart.ToolBegan began -> progress("tool " + began.toolName());
            case TurnPart.Said said -> progress("text");
            case TurnPart.Over over -> result = result(over.end());
            case TurnPart.Words ignored -> {}
            case TurnPart.Withdrawn ignored -> {}
            case TurnPart.ToolEnded ignored -> {}
        }
    }

    private void progress(String message) throws InterruptedException, ClientGoneException {
        JsonNode token = request.progressToken();
        if (token != null) {
            sink.send(new McpMessage.Progress(token, ++steps, message));
        }
    }

    private McpMessage.Result result(TurnEnd end) {
        return switch (end) {
            case TurnEnd.Answered answered -> called(answered.text(), false);
            case TurnEnd.Failed failed -> called("The task failed (" + failed.code() + "): " + failed.error(), true);
            case TurnEnd.Cancelled cancelled -> called("The task was cancelled: " + cancelled.reason(), true);
            case TurnEnd.Asked asked ->
                request.canAsk()
                        ? required(McpCalls.question(asked.question()))
                        : called(
                                asked.question() + "\n\n(The agent asks this. To answer, call this tool again with"
                                        + " taskId \"" + taskId + "\" and the answer as text.)",
                                false);
            case TurnEnd.NeedsApproval needs ->
                request.canAsk() && mayDecide
                        ? required(needs.calls().stream()
                                .collect(Collectors.toMap(
                                        Payload.ApprovalRequested::callId,
                                        call -> McpCalls.decision(TurnEnd.NeedsApproval.question(call)),
                                        (a, b) -> a,
                                        LinkedHashMap::new)))
                        : called(
                                "A person has to approve this first: "
                                        + needs.calls().stream()
                                                .map(TurnEnd.NeedsApproval::words)
                                                .collect(Collectors.joining("; "))
                                        + ". It is task " + taskId
                                        + ", and goes on by itself once they have decided.",
                                false);
        };
    }

    private McpMessage.Called called(String text, boolean isError) {
        return new McpMessage.Called(
                request.stateless() ? McpDoor.COMPLETE : null,
                List.of(new McpMessage.Text(text)),
                isError,
                Map.of(TASK, taskId));
    }

    private McpMessage.InputRequired required(Map<String, McpMessage.InputRequest> requests) {
        return new McpMessage.InputRequired("input_required", requests, taskId, Map.of(TASK, taskId));
    }
}
