package dev.millrace.gateway.rest.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.Task;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.rpc.RpcFault;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.gateway.rest.turns.TurnInputs;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Makes the events by which calls of tools become turns of tasks. */
@Singleton
class McpCalls {
    /** By what the client's answer to a question goes. */
    static final String ANSWER = "answer";

    static final String TEXT = "text";
    static final String TASK_ID = "taskId";
    static final String SESSION_ID = "sessionId";
    private static final Set<String> ARGUMENTS = Set.of(TEXT, TASK_ID, SESSION_ID);
    private static final String DECISION = "decision";
    private static final String REASON = "reason";
    private static final String NO_ANSWER = "(The user does not want to answer this.)";

    private final TurnInputs inputs;
    private final Access access;
    private final TaskIntake intake;

    @Inject
    McpCalls(TurnInputs inputs, Access access, TaskIntake intake) {
        this.inputs = inputs;
        this.access = access;
        this.intake = intake;
    }

    /**
     * The events that a call stands for; the turn begins with the last one.
     *
     * @param agent the name of the tool
     * @throws RpcFault if it cannot be done
     */
    List<Event> events(String agent, McpRequest request, String namespace)
            throws QueryUnavailableException, InterruptedException {
        return valid(made(agent, request, namespace));
    }

    /** The events by which a task goes on with what its client's user has said; see {@link #events}. */
    List<Event> sequel(String taskId, ObjectNode responses, String namespace)
            throws QueryUnavailableException, InterruptedException {
        return valid(retried(taskId, responses, namespace));
    }

    private List<Event> valid(List<Event.Builder> made) {
        try {
            List<Event> events =
                    made.stream().map(Event.Builder::build).map(access::stamped).toList();
            events.forEach(intake::requireValid);
            return events;
        } catch (IllegalArgumentException e) {
            throw RpcFault.params(String.valueOf(e.getMessage()));
        }
    }

    private List<Event.Builder> made(String agent, McpRequest request, String namespace)
            throws QueryUnavailableException, InterruptedException {
        JsonNode given = request.params().path("arguments");
        if (!given.isMissingNode() && !given.isObject()) {
            throw RpcFault.params("arguments: expected an object, found something else");
        }
        given.fieldNames().forEachRemaining(name -> {
            if (!ARGUMENTS.contains(name)) {
                throw RpcFault.params("arguments: expected text, taskId and sessionId only, found " + name);
            }
        });
        String state = request.text("requestState");
        if (state != null) {
            return retried(state, request.params().path("inputResponses"), namespace);
        }
        String text = McpRequest.text(given, TEXT);
        if (text == null || text.length() > Task.Request.MAX_TEXT) {
            throw RpcFault.params("text: expected 1 to " + Task.Request.MAX_TEXT + " characters, found "
                    + (text == null ? "none" : text.length()));
        }
        String taskId = McpRequest.text(given, TASK_ID);
        if (taskId != null) {
            return List.of(inputs.goOn(inputs.task(namespace, taskId), text));
        }
        return List.of(TurnInputs.root(KnownEventType.MESSAGE_RECEIVED, namespace)
                .sessionId(McpRequest.text(given, SESSION_ID))
                .payload(new Payload.MessageReceived(text, null, List.of(), List.of(), agent, null, null, null, null)));
    }

    /** What the client's user has said to what was asked. */
    private List<Event.Builder> retried(String taskId, JsonNode responses, String namespace)
            throws QueryUnavailableException, InterruptedException {
        if (!(responses instanceof ObjectNode answers) || answers.isEmpty()) {
            throw RpcFault.params("inputResponses: expected what was asked for, found none");
        }
        JsonNode answer = answers.path(ANSWER);
        if (!answer.isMissingNode()) {
            String words = McpRequest.text(answer.path("content"), ANSWER);
            return List.of(
                    inputs.goOn(inputs.task(namespace, taskId), accepted(answer) && words != null ? words : NO_ANSWER));
        }
        List<TurnInputs.Decision> decisions = new ArrayList<>();
        for (Map.Entry<String, JsonNode> one : answers.properties()) {
            if (!one.getKey().startsWith(taskId + '/')) {
                continue; // nobody has asked that here
            }
            JsonNode content = one.getValue().path("content");
            boolean approve = accepted(one.getValue())
                    && "approve".equals(content.path(DECISION).textValue());
            decisions.add(new TurnInputs.Decision(one.getKey(), approve, McpRequest.text(content, REASON)));
        }
        if (decisions.isEmpty()) {
            throw RpcFault.params("inputResponses: expected what was asked for, found other names only");
        }
        return inputs.decided(namespace, decisions);
    }

    private static boolean accepted(JsonNode answer) {
        return "accept".equals(answer.path("action").textValue());
    }

    /** Asks the client's user for an answer. */
    static Map<String, McpMessage.InputRequest> question(String question) {
        return Map.of(
                ANSWER,
                new McpMessage.InputRequest(
                        question,
                        Map.of(
                                "type",
                                "object",
                                "properties",
                                Map.of(ANSWER, Map.of("type", "string", "title", "Answer")),
                                "required",
                                List.of(ANSWER))));
    }

    /** Asks the client's user for a decision. */
    static McpMessage.InputRequest decision(String message) {
        return new McpMessage.InputRequest(
                message,
                Map.of(
                        "type",
                        "object",
                        "properties",
                        Map.of(
                                DECISION,
                                Map.of("type", "string", "title", "Decision", "enum", List.of("approve", "reject")),
                                REASON,
                                Map.of("type", "string", "title", "Reason")),
                        "required",
                        List.of(DECISION)));
    }
}
