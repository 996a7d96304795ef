package dev.millrace.agent.core;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The moves of DESIGN §4 and SPEC C.1, declared by hand and independently of the machine: state, event, next state.
 * Everything else is a discard.
 */
final class DeclaredMoves {

    /** One move, by the simple names of its classes. */
    record Move(String from, String event, String to) {
        @Override
        public String toString() {
            return from + " + " + event + " → " + to;
        }
    }

    private static final String TABLE = """
            Absent    InputReceived    Idle Failed
            Idle      TaskCreated      Reasoning
            Idle      CancelRequested  Cancelled
            Idle      FailureDeclared  Failed
            Reasoning ModelReplied     Acting Failed
            Reasoning QuestionAsked    Suspended
            Reasoning ModelCallFailed  Failed
            Reasoning TaskSuspended    Suspended
            Reasoning CancelRequested  Cancelled
            Reasoning FailureDeclared  Failed
            Acting    ToolReturned     Acting Reasoning Failed
            Acting    StepCompleted    Completed
            Acting    TaskSuspended    Suspended
            Acting    CancelRequested  Cancelled
            Acting    FailureDeclared  Failed
            Suspended InputReceived    Reasoning Failed
            Suspended TaskResumed      Reasoning Acting Failed
            Suspended ModelReplied     Suspended
            Suspended QuestionAsked    Suspended
            Suspended ModelCallFailed  Failed
            Suspended ToolReturned     Suspended
            Suspended CancelRequested  Cancelled
            Suspended FailureDeclared  Failed
            Completed TaskResumed      Reasoning Failed
            """;

    static final List<Move> ALL = TABLE.lines()
            .map(line -> List.of(line.split(" +")))
            .flatMap(words -> words.stream().skip(2).map(to -> new Move(words.get(0), words.get(1), to)))
            .toList();

    private DeclaredMoves() {}

    static Set<String> byName() {
        return ALL.stream().map(Move::toString).collect(Collectors.toSet());
    }

    static String nameOf(TaskState before, TaskEvent event, Transition transition) {
        return new Move(
                        before.getClass().getSimpleName(),
                        event.getClass().getSimpleName(),
                        transition.next().getClass().getSimpleName())
                .toString();
    }
}
