package dev.millrace.gateway.rest.turns;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Approval;
import dev.millrace.api.Task;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How the turn stands that a task is at, of what agent-service says. */
@Singleton
public class TurnStates {
    private static final int MAX_CALLS = 100;

    private final AgentClient client;

    @Inject
    TurnStates(AgentClient client) {
        this.client = client;
    }

    /** Why the task's turn is over; empty if it is not. */
    public Optional<TurnEnd> end(Task task) throws QueryUnavailableException, InterruptedException {
        Optional<TurnEnd> end = told(task);
        if (end.isPresent() || !waitsFor(task, "approval")) {
            return end;
        }
        List<Payload.ApprovalRequested> calls = calls(task);
        return calls.isEmpty() ? Optional.empty() : Optional.of(new TurnEnd.NeedsApproval(calls));
    }

    /** The same of what the task itself tells, which is not the calls that wait for a person. */
    public static Optional<TurnEnd> told(Task task) {
        return Optional.ofNullable(
                switch (task.state()) {
                    case "completed" -> new TurnEnd.Answered(task.response() == null ? "" : task.response(), null);
                    case "failed" -> new TurnEnd.Failed(String.valueOf(task.errorCode()), String.valueOf(task.error()));
                    case "cancelled" -> new TurnEnd.Cancelled(task.error());
                    default -> TurnInputs.asks(task) ? new TurnEnd.Asked(String.valueOf(task.question())) : null;
                });
    }

    /** Whether the task has ended, or waits for somebody. */
    static boolean isAtRest(Task task) {
        return told(task).isPresent() || waitsFor(task, "approval");
    }

    /** Whether the task is suspended until this kind of thing comes. */
    public static boolean waitsFor(Task task, String kind) {
        Task.WaitingFor waits = task.waitingFor();
        return task.state().equals("suspended") && waits != null && waits.kind().equals(kind);
    }

    private List<Payload.ApprovalRequested> calls(Task task) throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query =
                Map.of("namespace", task.namespace(), "taskId", task.taskId(), "limit", Integer.toString(MAX_CALLS));
        List<Payload.ApprovalRequested> calls = new ArrayList<>();
        for (JsonNode one : client.get(AgentClient.path("approvals"), query)
                .as(JsonNode.class)
                .path("approvals")) {
            Approval approval = Json.MAPPER.convertValue(one, Approval.class);
            calls.add(new Payload.ApprovalRequested(
                    approval.callId(),
                    approval.callId(),
                    approval.toolName(),
                    JsonObject.of(approval.params()),
                    approval.taskType(),
                    approval.expiresAt(),
                    approval.reason()));
        }
        return calls;
    }
}
