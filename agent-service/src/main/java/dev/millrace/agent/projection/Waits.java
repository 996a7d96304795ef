package dev.millrace.agent.projection;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.api.Task.WaitingFor;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a task waits for as far as its events tell: what TASK_STATE_CHANGED says, else what follows from the state, kept
 * up to date by the events in between.
 *
 * @param on {@code null} = nothing
 * @param approvals tool calls that nobody has decided on yet
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonIgnoreProperties(ignoreUnknown = true)
record Waits(@Nullable WaitingFor on, List<OpenApproval> approvals) {

    static final Waits FOR_NOTHING = new Waits(null, List.of());

    static final String ADMISSION = "admission";
    private static final String MODEL = "model";
    private static final String TOOLS = "tools";
    private static final String ANSWER = "answer";
    private static final String APPROVAL = "approval";
    private static final String RESUME = "resume";

    /** So that no row grows without end, whatever a strange machine writes. */
    private static final int MAX_CALLS = 1_000;

    Waits(@Nullable WaitingFor on, @Nullable List<OpenApproval> approvals) {
        this.on = on;
        this.approvals = approvals == null ? List.of() : List.copyOf(approvals);
    }

    /** A call that waits for a decision, and the event that asked for it. */
    record OpenApproval(String callId, JournalCursor requested, long requestedAt) {}

    /** It waits for its turn. */
    static Waits forAdmission(Event event) {
        return new Waits(WaitingFor.of(ADMISSION, millis(event)), List.of());
    }

    /** After a move to this state. */
    Waits moved(Event event, String state, Payload.@Nullable WaitingFor told, @Nullable String question) {
        List<OpenApproval> open = state.equals("suspended") ? approvals : List.of();
        if (told != null) {
            List<String> calls = told.callIds().stream().limit(MAX_CALLS).toList();
            return new Waits(new WaitingFor(told.kind(), calls, told.question(), millis(event), told.until()), open);
        }
        return switch (state) {
            case "idle" -> forAdmission(event);
            case "reasoning" -> new Waits(WaitingFor.of(MODEL, millis(event)), open);
            case "acting" -> new Waits(WaitingFor.of(TOOLS, millis(event)), open);
            case "suspended" -> {
                if (question != null) {
                    yield new Waits(WaitingFor.of(ANSWER, millis(event)).asking(question), open);
                }
                yield new Waits(WaitingFor.of(open.isEmpty() ? RESUME : APPROVAL, millis(event)), open);
            }
            default -> FOR_NOTHING;
        };
    }

    /** A model or tool call was asked for. */
    private Waits called(String kind, String callId) {
        WaitingFor now = on;
        return now == null || !now.kind().equals(kind)
                ? this
                : new Waits(now.with(plus(now.callIds(), callId)), approvals);
    }

    Waits modelCalled(String callId) {
        return called(MODEL, callId);
    }

    Waits toolCalled(String callId) {
        return called(TOOLS, callId);
    }

    /** Nobody waits for this call any more. */
    Waits returned(String callId) {
        WaitingFor now = on;
        return now == null || !now.callIds().contains(callId)
                ? this
                : new Waits(now.with(minus(now.callIds(), callId)), approvals);
    }

    /** The suspended task asks this. */
    Waits asked(Event event, String question) {
        return new Waits(
                on != null && on.kind().equals(ANSWER)
                        ? on.asking(question)
                        : WaitingFor.of(ANSWER, millis(event)).asking(question),
                approvals);
    }

    /** A call needs an approval. */
    Waits approvalRequested(JournalEntry entry, Payload.ApprovalRequested asked, boolean suspended) {
        Event event = entry.event();
        String callId = asked.callId();
        if (approvals.size() == MAX_CALLS) {
            return this;
        }
        List<OpenApproval> open = new ArrayList<>(approvals);
        open.add(new OpenApproval(callId, entry.cursor(), millis(event)));
        if (!suspended) {
            return new Waits(on, open);
        }
        WaitingFor now = on != null && on.kind().equals(APPROVAL) ? on : WaitingFor.of(APPROVAL, millis(event));
        String expiresAt = asked.expiresAt();
        return new Waits(
                now.with(plus(now.callIds(), callId)).until(now.until() == null ? expiresAt : now.until()), open);
    }

    /** A call was decided on; with the last one the task waits for its turn again. */
    Waits approvalDecided(Event event, String callId) {
        List<OpenApproval> open = approvals.stream()
                .filter(approval -> !approval.callId().equals(callId))
                .toList();
        if (open.size() == approvals.size()) {
            return this;
        }
        boolean last = open.isEmpty() && on != null && on.kind().equals(APPROVAL);
        return last ? forAdmission(event) : new Waits(returned(callId).on, open);
    }

    private static List<String> plus(List<String> callIds, String callId) {
        if (callIds.contains(callId) || callIds.size() == MAX_CALLS) {
            return callIds;
        }
        List<String> more = new ArrayList<>(callIds);
        more.add(callId);
        return more;
    }

    private static List<String> minus(List<String> callIds, String callId) {
        return callIds.stream().filter(id -> !id.equals(callId)).toList();
    }

    private static long millis(Event event) {
        return Math.max(0, event.timestamp().toEpochMilli());
    }
}
