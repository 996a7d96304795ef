package dev.millrace.agent.topology;

import dev.millrace.agent.core.Deadlines;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Wait;
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
        return state.waitsFor()
                .map(wait -> switch (wait) {
                    case Wait.Admission w -> new WaitingFor("admission", List.of(), null, until);
                    case Wait.Model w -> new WaitingFor("model", List.of(w.callId()), null, until);
                    case Wait.Summary w -> new WaitingFor("summary", List.of(w.callId()), null, until);
                    case Wait.Tools w -> new WaitingFor("tools", w.callIds(), null, until);
                    case Wait.Answer w -> new WaitingFor("answer", List.of(), w.question(), until);
                    case Wait.Approval w -> new WaitingFor("approval", w.callIds(), null, until);
                    case Wait.Children w -> new WaitingFor("children", w.callIds(), null, until);
                    case Wait.Resume w -> new WaitingFor("resume", List.of(), null, until);
                })
                .orElse(null);
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
