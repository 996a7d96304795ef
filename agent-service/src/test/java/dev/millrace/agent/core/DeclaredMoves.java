package dev.millrace.agent.core;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The moves of DESIGN §4 and SPEC C.1, declared by hand and independently of the machine. Every other pair of state and
 * event is a discard.
 */
final class DeclaredMoves {

    /**
     * One move, by the simple names of its classes.
     *
     * @param when what tells it from another move of the same state and event; empty = always
     */
    record Move(String from, String event, String to, String when) {
        String name() {
            return from + " + " + event + " → " + to;
        }
    }

    private static final String TABLE = """
            Absent    | InputReceived   | Idle      |
            Absent    | InputReceived   | Failed    | the input alone is longer than the transcript may be
            Idle      | Admitted        | Idle      |
            Idle      | TaskCreated     | Reasoning |
            Idle      | CancelRequested | Cancelled |
            Idle      | FailureDeclared | Failed    |
            Reasoning | ModelReplied    | Acting    | it is the awaited reply
            Reasoning | ModelReplied    | Failed    | it is the awaited reply and asks for too many tool calls
            Reasoning | QuestionAsked   | Suspended | it is the awaited reply
            Reasoning | ModelCallFailed | Failed    | it is the awaited call
            Reasoning | TaskSuspended   | Suspended |
            Reasoning | CancelRequested | Cancelled |
            Reasoning | FailureDeclared | Failed    |
            Acting    | ToolReturned    | Acting    | the call is open and others are, too
            Acting    | ToolReturned    | Reasoning | the call was the last open one
            Acting    | ToolReturned    | Failed    | the call was the last open one and a limit is reached
            Acting    | StepCompleted   | Completed | the step is the open response
            Acting    | TaskSuspended   | Suspended |
            Acting    | CancelRequested | Cancelled |
            Acting    | FailureDeclared | Failed    |
            Suspended | InputReceived   | Reasoning | always, except for the very input that started the task
            Suspended | InputReceived   | Failed    | a limit is reached
            Suspended | TaskResumed     | Reasoning | new input, or an answer is awaited, or a model reply is, or all results are in
            Suspended | TaskResumed     | Acting    | no new input, and a model reply was kept or results are missing
            Suspended | TaskResumed     | Failed    | a limit is reached
            Suspended | ModelReplied    | Suspended | it is the awaited reply: it is kept
            Suspended | QuestionAsked   | Suspended | it is the awaited reply: an answer is awaited now
            Suspended | ModelCallFailed | Failed    | it is the awaited call
            Suspended | ToolReturned    | Suspended | the call is open: the result is recorded
            Suspended | CancelRequested | Cancelled |
            Suspended | FailureDeclared | Failed    |
            Completed | TaskResumed     | Reasoning | there is new input
            Completed | TaskResumed     | Failed    | there is new input and a limit is reached
            """;

    static final List<Move> ALL = TABLE.lines()
            .map(line -> line.split("\\|", -1))
            .map(cells -> new Move(cells[0].strip(), cells[1].strip(), cells[2].strip(), cells[3].strip()))
            .toList();

    private DeclaredMoves() {}

    static Set<String> byName() {
        return ALL.stream().map(Move::name).collect(Collectors.toSet());
    }

    static String nameOf(TaskState before, TaskEvent event, Transition transition) {
        return new Move(
                        before.getClass().getSimpleName(),
                        event.getClass().getSimpleName(),
                        transition.next().getClass().getSimpleName(),
                        "")
                .name();
    }
}
