package dev.millrace.api;

import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The state machine that every task is, as the machine itself answers; docs/task-lifecycle.md. */
@Schema(name = "Machine", description = "The state machine that every task is; docs/task-lifecycle.md.")
public record MachineView(
        @Schema(description = "In the order of a life.") List<State> states,

        @Schema(description = "Every move that there is. What has no move changes nothing.")
        List<Move> moves) {

    /** A state. */
    @Schema(name = "MachineState")
    public record State(
            @Schema(
                    description = "As in Task and in TASK_STATE_CHANGED; several kinds may have one name.",
                    examples = "reasoning")
            String name,

            @Schema(description = "What the machine tells apart.", examples = "Compacting")
            String kind,

            @Schema(description = "Whether the task has ended in it.")
            boolean ended,

            String meaning) {}

    /** A move. */
    @Schema(name = "MachineMove")
    public record Move(
            @Schema(description = "The name of the state before.", examples = "reasoning")
            String from,

            @Schema(description = "The name of the state after.", examples = "acting")
            String to,

            @Schema(description = "What leads to it, as the machine calls it.", examples = "ModelReplied")
            String event,

            @Schema(description = "Types on the wire that are this event; none if the machine makes it itself.")
            List<String> types,

            @Schema(description = "What tells it from another move of the same state and event; empty = always.")
            String when) {}
}
