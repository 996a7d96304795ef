package dev.millrace.gateway.rest.mcp;

import dev.millrace.gateway.rest.turns.TurnEnd;
import dev.millrace.schemas.Payload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What the end of a turn is to an MCP client: the result of a call, or questions to the client's user. */
final class McpEnds {
    private McpEnds() {}

    /**
     * What the client's user is asked; empty if nothing, or if this client cannot ask, or its user may not decide.
     *
     * @param mayDecide whether the client's user may decide on tool calls
     */
    static Map<String, McpMessage.InputRequest> requests(TurnEnd end, McpRequest request, boolean mayDecide) {
        return switch (end) {
            case TurnEnd.Asked asked when request.canAsk() -> McpCalls.question(asked.question());
            case TurnEnd.NeedsApproval needs
            when request.canAsk() && mayDecide ->
                needs.calls().stream()
                        .collect(Collectors.toMap(
                                Payload.ApprovalRequested::callId,
                                call -> McpCalls.decision(TurnEnd.NeedsApproval.question(call)),
                                (a, b) -> a,
                                LinkedHashMap::new));
            default -> Map.of();
        };
    }

    /** What has come of the call. */
    static McpMessage.Called called(TurnEnd end, String taskId, McpRequest request) {
        return new McpMessage.Called(
                request.stateless() ? McpDoor.COMPLETE : null,
                List.of(new McpMessage.Text(words(end, taskId))),
                end instanceof TurnEnd.Failed || end instanceof TurnEnd.Cancelled || end instanceof TurnEnd.NotTaken,
                meta(taskId));
    }

    /** The same in words. */
    static String words(TurnEnd end, String taskId) {
        return switch (end) {
            case TurnEnd.Answered answered -> answered.text();
            case TurnEnd.Failed failed -> "The task failed (" + failed.code() + "): " + failed.error();
            case TurnEnd.NotTaken late -> late.words(taskId);
            case TurnEnd.Cancelled cancelled -> "The task was cancelled: " + cancelled.reason();
            case TurnEnd.Asked asked ->
                asked.question() + "\n\n(The agent asks this. To answer, call this tool again with taskId \"" + taskId
                        + "\" and the answer as text.)";
            case TurnEnd.NeedsApproval needs ->
                "A person has to approve this first: "
                        + needs.calls().stream()
                                .map(TurnEnd.NeedsApproval::words)
                                .collect(Collectors.joining("; "))
                        + ". It is task " + taskId + ", and goes on by itself once they have decided.";
        };
    }

    static McpMessage.Meta meta(String taskId) {
        return new McpMessage.Meta(null, taskId);
    }
}
