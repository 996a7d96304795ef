package dev.millrace.agent.topology;

import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.Deadlines;
import dev.millrace.agent.core.Plan;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.TaskState;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Payload.WaitingFor;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What people are told of a state: what the task waits for, and what it has used of what it may use. */
final class StateReport {

    private StateReport() {}

    /** Whether a move is worth telling: the state, or what it waits for, is of another kind. */
    static boolean differs(TaskState from, TaskState to) {
        return !from.label().equals(to.label()) || !Objects.equals(kind(from), kind(to));
    }

    private static @Nullable String kind(TaskState state) {
        WaitingFor waiting = waitingFor(state);
        return waiting == null ? null : waiting.kind();
    }

    /** {@code waitingFor} of TASK_STATE_CHANGED; {@code null} = the task waits for nothing. */
    static @Nullable WaitingFor waitingFor(TaskState state) {
        String until = time(TaskFsm.dueAt(state).orElse(Deadlines.NEVER));
        return switch (state) {
            case TaskState.Absent s -> null;
            case TaskState.Idle s -> new WaitingFor("admission", List.of(), null, until);
            case TaskState.Reasoning s -> new WaitingFor("model", List.of(s.awaiting()), null, until);
            case TaskState.Compacting s -> new WaitingFor("summary", List.of(s.awaiting()), null, until);
            case TaskState.Acting s -> {
                List<Plan.CallStep> open = s.plan().openCalls();
                yield open.isEmpty() ? null : new WaitingFor("tools", ids(open), null, until);
            }
            case TaskState.Suspended s -> suspended(s, until);
            case TaskState.Completed s -> null;
            case TaskState.Ended s -> null;
        };
    }

    private static WaitingFor suspended(TaskState.Suspended s, @Nullable String until) {
        TaskState.Question question = s.question();
        if (s.next() != null) {
            return new WaitingFor("admission", List.of(), null, until);
        } else if (question != null) {
            return new WaitingFor("answer", List.of(), question.text(), until);
        } else if (!s.undecided().isEmpty()) {
            return new WaitingFor("approval", ids(s.undecided()), null, until);
        } else if (s.awaitsChildren()) {
            List<String> calls = s.context().children().out().stream()
                    .map(Children.Child::callId)
                    .toList();
            return new WaitingFor("children", calls, null, until);
        }
        return new WaitingFor("resume", List.of(), null, until);
    }

    private static List<String> ids(List<Plan.CallStep> calls) {
        return calls.stream().map(Plan.CallStep::callId).toList();
    }

    /** {@code budget} of TASK_STATE_CHANGED. */
    static Payload.Budget budget(TaskContext context) {
        TaskLimits limits = context.budget().limits();
        long costMicros = context.usage().costMicros();
        return new Payload.Budget(
                (long) context.iteration(),
                limit(limits.maxIterations()),
                context.usage().inputTokens(),
                context.usage().outputTokens(),
                limit(limits.maxTokens()),
                costMicros > 0 ? (Long) costMicros : null,
                limit(limits.maxCostMicros()),
                time(context.budget().expiresAtMs()));
    }

    /** {@code null} = there is none. */
    static @Nullable Long limit(long limit) {
        return limit == TaskLimits.NONE ? null : (Long) limit;
    }

    /** RFC 3339; {@code null} if it is never, or in a year that has more than four digits. */
    static @Nullable String time(long atMs) {
        return atMs == Deadlines.NEVER || atMs >= 253_402_300_800_000L
                ? null
                : Instant.ofEpochMilli(atMs).toString();
    }
}
