package dev.millrace.gateway.rest.a2a;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.gateway.rest.turns.TurnEnd;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A task, as clients of A2A see it.
 *
 * @param contextId the session, or the task itself where it has none
 */
@Schema(name = "A2aTask", description = "As A2A describes it; docs/a2a.md says what is in it.")
record A2aTask(String id, String contextId, Status status, List<Artifact> artifacts) {
    private static final String AGENT = "ROLE_AGENT";
    /** What the answer is in; a later text takes the place of an earlier one. */
    private static final String ANSWER = "answer";

    /** How far a task is, by the names of the protocol. */
    enum State {
        TASK_STATE_SUBMITTED,
        TASK_STATE_WORKING,
        TASK_STATE_INPUT_REQUIRED,
        TASK_STATE_COMPLETED,
        TASK_STATE_FAILED,
        TASK_STATE_CANCELED;

        /** Whether a task in it takes nothing any more. */
        boolean isTerminal() {
            return this == TASK_STATE_COMPLETED || this == TASK_STATE_FAILED || this == TASK_STATE_CANCELED;
        }
    }

    /** How far it is. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "A2aStatus")
    record Status(State state, @Nullable Message message, String timestamp) {}

    /** What the agent says about how far it is. */
    @Schema(name = "A2aMessage")
    record Message(String messageId, String contextId, String taskId, String role, List<Part> parts) {}

    /** Words, or data. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "A2aPart")
    record Part(
            @Nullable String text,
            @Schema(implementation = Object.class) @Nullable Object data) {
        Part(String text) {
            this(text, null);
        }
    }

    /** What came of it. */
    @Schema(name = "A2aArtifact")
    record Artifact(String artifactId, List<Part> parts) {
        static Artifact answer(String text) {
            return new Artifact(ANSWER, List.of(new Part(text)));
        }
    }

    /** One without words. */
    static Status status(State state, Instant at) {
        return new Status(state, null, at.toString());
    }

    /** Whom a status is about, and when it was so. */
    record About(String taskId, String contextId, Instant at) {

        /** A status with words of the agent. */
        Status says(State state, List<Part> parts) {
            Message message =
                    new Message(taskId + "/" + at.toEpochMilli() + "/" + state, contextId, taskId, AGENT, parts);
            return new Status(state, message, at.toString());
        }

        /** The status of a task that has come to this end, or to this question. */
        Status ends(TurnEnd end) {
            return switch (end) {
                case TurnEnd.Answered ignored -> status(State.TASK_STATE_COMPLETED, at);
                case TurnEnd.Failed failed ->
                    says(State.TASK_STATE_FAILED, List.of(new Part(failed.code() + ": " + failed.error())));
                case TurnEnd.NotTaken late -> says(State.TASK_STATE_WORKING, List.of(new Part(late.words(taskId))));
                case TurnEnd.Cancelled cancelled ->
                    cancelled.reason() == null
                            ? status(State.TASK_STATE_CANCELED, at)
                            : says(State.TASK_STATE_CANCELED, List.of(new Part(cancelled.reason())));
                case TurnEnd.Asked asked -> says(State.TASK_STATE_INPUT_REQUIRED, List.of(new Part(asked.question())));
                case TurnEnd.NeedsApproval needs -> says(State.TASK_STATE_INPUT_REQUIRED, asked(needs.calls()));
            };
        }

        private static List<Part> asked(List<Payload.ApprovalRequested> calls) {
            List<Part> parts = new ArrayList<>();
            parts.add(
                    new Part(calls.stream().map(TurnEnd.NeedsApproval::question).collect(Collectors.joining("\n"))));
            for (Payload.ApprovalRequested call : calls) {
                JsonObject data = JsonObject.builder()
                        .put("callId", call.callId())
                        .put("toolName", call.toolName())
                        .put("params", call.params())
                        .putIfPresent("expiresAt", call.expiresAt())
                        .build();
                parts.add(new Part(null, data));
            }
            return parts;
        }
    }

    /** Some tasks. */
    @Schema(name = "A2aTasks")
    record Page(List<A2aTask> tasks, String nextPageToken, int pageSize, int totalSize) {}

    /** What an operation answers that begins or continues a task. */
    @Schema(name = "A2aSent")
    record Sent(A2aTask task) {}
}
