package dev.millrace.agent.projection;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import org.jspecify.annotations.Nullable;

/**
 * A tool call that somebody was asked to decide on, and what became of that.
 *
 * @param open whether it still waits for a decision
 * @param taskState the state of its task
 * @param decided {@code null} = nobody has decided
 */
public record ApprovalDetails(
        @JsonUnwrapped ApprovalView approval,
        boolean open,
        String taskState,
        @Nullable Decision decided) {

    /**
     * What somebody decided.
     *
     * @param decision {@code approve} or {@code reject}
     * @param decidedBy {@code null} = not said
     * @param reason {@code null} = not said
     * @param at Unix milliseconds
     */
    public record Decision(
            String decision,
            @Nullable String decidedBy,
            @Nullable String reason,
            long at) {

        /** @param event APPROVAL_DECIDED */
        static Decision of(Event event) {
            Payload.ApprovalDecided decided = (Payload.ApprovalDecided) event.payload();
            return new Decision(
                    decided.decision(),
                    decided.decidedBy(),
                    decided.reason(),
                    event.timestamp().toEpochMilli());
        }
    }
}
