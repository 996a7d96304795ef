package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A task, played again from its log. */
@Schema(
        name = "Replay",
        description = "A task, played again from its log: what the state machine makes of it now. Nothing is called.")
public record Replay(
        String taskId,
        String namespace,

        @Schema(description = "Whether the machine decides today what the log says, in all steps.")
        boolean equal,

        @Schema(description = "How many events the log has.")
        int events,

        @Schema(description = "How many steps there are.") int length,

        List<Step> steps,

        @Schema(description = "For ?after=, to get the next steps; null on the last page.") @Nullable
        String next) {

    /** Something that happened, and what the machine decided on it. */
    @Schema(name = "ReplayStep", description = "Something that happened, and what the machine decided on it.")
    public record Step(
            @Schema(description = "From 1.") int number,

            Cause cause,

            @Schema(description = "Unix milliseconds") long timestamp,

            @Schema(description = "absent = there was no task yet.")
            String fromState,

            String toState,

            @Schema(description = "What the task waits for afterwards; absent if for nothing.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            Waits waitingFor,

            @Schema(description = "What it has used afterwards, of what it may use; absent if there is no task.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            Task.@Nullable Budget budget,

            @Schema(description = "What came into the transcript, which the model is shown.")
            List<Said> said,

            @Schema(description = "What the machine decided, in order.")
            List<Decision> decided,

            @Schema(description = "Whether all of that is what the log says.")
            boolean equal) {}

    /** What happened. */
    @Schema(name = "ReplayCause", description = "What happened.")
    public record Cause(
            @Schema(
                    enumeration = {"event", "admission", "time", "noted"},
                    description =
                            "An event; that the task's turn has come; that time has passed; an event that is recorded"
                                    + " and changes nothing.")
            String kind,

            @Schema(description = "Of the event; of admission and time that of the event which they follow.")
            String eventId,

            @Schema(description = "Of the event; absent of admission and time.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            String eventType,

            @Schema(description = "Its place in the journal; absent of admission and time.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            String cursor) {}

    /** What the task waits for. */
    @Schema(name = "ReplayWaits", description = "What the task waits for.")
    public record Waits(
            String kind,
            List<String> callIds,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String question,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String until) {}

    /** An entry of the transcript. */
    @Schema(name = "ReplaySaid", description = "An entry of the transcript.")
    public record Said(
            @Schema(description = "Its position.") int seq,

            @Schema(enumeration = {"user", "assistant", "tool", "summary"})
            String role,

            @Schema(description = "Cut at 2000 characters.") String text) {}

    /** An event that the machine writes. */
    @Schema(name = "ReplayDecision", description = "An event that the machine writes.")
    public record Decision(
            String eventId,
            String eventType,

            @Schema(
                    enumeration = {"same", "differs", "not_recorded", "not_decided"},
                    description =
                            "same: as it is in the log. differs: it is there, and says something else. not_recorded: the"
                                    + " log has no such event. not_decided: the log has it, and the machine does not"
                                    + " decide it today.")
            String outcome,

            @Schema(description = "Of what differs: each field with what is recorded and what is decided.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            Map<String, Difference> differences) {}

    /** A field of a payload. */
    @Schema(name = "ReplayDifference", description = "A field of a payload.")
    public record Difference(
            @Schema(description = "In the log; null = nothing.") @Nullable
            Object recorded,

            @Schema(description = "By the machine of today; null = nothing.") @Nullable
            Object decided) {}
}
