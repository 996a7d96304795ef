package dev.millrace.gateway.rest.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.turns.TurnEnd;
import dev.millrace.gateway.rest.turns.TurnFold;
import dev.millrace.gateway.rest.turns.TurnPart;
import dev.millrace.schemas.Event;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A turn as what came of the call of a tool. For one thread. */
final class McpStory implements TurnFold.Teller {
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
        this.fold = new TurnFold(begin, this);
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
        Map<String, McpMessage.InputRequest> requests = McpEnds.requests(end, request, mayDecide);
        return requests.isEmpty()
                ? McpEnds.called(end, taskId, request)
                : new McpMessage.InputRequired("input_required", requests, taskId, McpEnds.meta(taskId));
    }
}
