package dev.millrace.agent.topology;

import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.Deadlines;
import dev.millrace.agent.core.Plan;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.TaskState;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What people are told of a state: what the task waits for, and what it has used of what it may use. */
final class StateReport {

    private static final String KIND = "kind";
    private static final String CALL_IDS = "callIds";

    private StateReport() {}

    /** Whether a move is worth telling: the state, or what it waits for, is of another kind. */
    static boolean differs(TaskState from, TaskState to) {
        return !from.label().equals(to.label()) || !kind(from).equals(kind(to));
    }

    private static Object kind(TaskState state) {
        return String.valueOf(waitingFor(state).get(KIND));
    }

    /** {@code waitingFor} of TASK_STATE_CHANGED; empty = the task waits for nothing. */
    static Map<String, @Nullable Object> waitingFor(TaskState state) {
        Map<String, @Nullable Object> waiting = new LinkedHashMap<>();
        switch (state) {
            case TaskState.Absent s -> {}
            case TaskState.Idle s -> waiting.put(KIND, "admission");
            case TaskState.Reasoning s -> {
                waiting.put(KIND, "model");
                waiting.put(CALL_IDS, List.of(s.awaiting()));
            }
            case TaskState.Compacting s -> {
                waiting.put(KIND, "summary");
                waiting.put(CALL_IDS, List.of(s.awaiting()));
            }
            case TaskState.Acting s -> {
                if (!s.plan().openCalls().isEmpty()) {
                    waiting.put(KIND, "tools");
                    waiting.put(CALL_IDS, ids(s.plan().openCalls()));
                }
            }
            case TaskState.Suspended s -> suspended(s, waiting);
            case TaskState.Completed s -> {}
            case TaskState.Ended s -> {}
        }
        if (!waiting.isEmpty()) {
            TaskFsm.dueAt(state).ifPresent(untilMs -> putTime(waiting, "until", untilMs));
        }
        return waiting;
    }

    private static void suspended(TaskState.Suspended s, Map<String, @Nullable Object> waiting) {
        TaskState.Question question = s.question();
        if (s.next() != null) {
            waiting.put(KIND, "admission");
        } else if (question != null) {
            waiting.put(KIND, "answer");
            waiting.put("question", question.text());
        } else if (!s.undecided().isEmpty()) {
            waiting.put(KIND, "approval");
            waiting.put(CALL_IDS, ids(s.undecided()));
        } else if (s.awaitsChildren()) {
            waiting.put(KIND, "children");
            waiting.put(
                    CALL_IDS,
                    s.context().children().out().stream()
                            .map(Children.Child::callId)
                            .toList());
        } else {
            waiting.put(KIND, "resume");
        }
    }

    private static List<String> ids(List<Plan.CallStep> calls) {
        return calls.stream().map(Plan.CallStep::callId).toList();
    }

    /** {@code budget} of TASK_STATE_CHANGED. */
    static Map<String, @Nullable Object> budget(TaskContext context) {
        TaskLimits limits = context.budget().limits();
        Map<String, @Nullable Object> budget = new LinkedHashMap<>();
        budget.put("iterations", context.iteration());
        putLimit(budget, "maxIterations", limits.maxIterations());
        budget.put("inputTokens", context.usage().inputTokens());
        budget.put("outputTokens", context.usage().outputTokens());
        putLimit(budget, "maxTokens", limits.maxTokens());
        if (context.usage().costMicros() > 0) {
            budget.put("costMicros", context.usage().costMicros());
        }
        putLimit(budget, "maxCostMicros", limits.maxCostMicros());
        putTime(budget, "expiresAt", context.budget().expiresAtMs());
        return budget;
    }

    private static void putLimit(Map<String, @Nullable Object> budget, String name, long limit) {
        if (limit != TaskLimits.NONE) {
            budget.put(name, limit);
        }
    }

    /** RFC 3339; left out if it is never, or in a year that has more than four digits. */
    static void putTime(Map<String, @Nullable Object> json, String name, long atMs) {
        if (atMs != Deadlines.NEVER && atMs < 253_402_300_800_000L) {
            json.put(name, Instant.ofEpochMilli(atMs).toString());
        }
    }
}
