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
            Absent    | InputReceived   | Failed    | the input alone is longer than the transcript may be, or too many tasks led to this one
            Idle      | Admitted        | Idle      | it is new: TASK_CREATED follows
            Idle      | Admitted        | Reasoning | it had completed and was resumed
            Idle      | Admitted        | Failed    | it had completed and was resumed, and a limit is reached
            Idle      | TimePassed      | Failed    | its expiry time or its life time is over
            Idle      | TaskCreated     | Reasoning |
            Idle      | TaskCreated     | Acting    | a tool call came along that is all its work: no model is asked
            Idle      | TaskCreated     | Suspended | the same, and a person has to agree to it
            Idle      | TaskCreated     | Failed    | its session has used what it may
            Idle      | Admitted        | Compacting | it had completed and was resumed, and its conversation is about to fill the window
            Idle      | CancelRequested | Cancelled |
            Idle      | FailureDeclared | Failed    |
            Reasoning | ModelReplied    | Acting    | it is the awaited reply
            Reasoning | ModelReplied    | Suspended | it is the awaited reply, and a person has to agree to one of its tool calls, or children are to do all the work
            Reasoning | ModelReplied    | Failed    | it is the awaited reply and asks for too many tool calls
            Reasoning | QuestionAsked   | Suspended | it is the awaited reply
            Reasoning | ModelCallFailed | Failed    | it is the awaited call
            Reasoning | ModelCallFailed | Compacting | it is the awaited call, the conversation is too long and can be made shorter
            Reasoning | ChildEnded      | Reasoning | it is a child in the background: the model is told before its next call
            Reasoning | TimePassed      | Reasoning | the reply is late: MODEL_CALL_FAILED follows
            Reasoning | TimePassed      | Failed    | its life time is over
            Reasoning | TaskSuspended   | Suspended |
            Reasoning | CancelRequested | Cancelled |
            Reasoning | FailureDeclared | Failed    |
            Compacting | Summarised     | Reasoning | it is the awaited summary
            Compacting | Summarised     | Failed    | it is the awaited summary, and a limit is reached
            Compacting | ModelCallFailed | Failed   | it is the awaited call
            Compacting | ChildEnded     | Compacting | it is a child in the background: the model is told before its next call
            Compacting | TimePassed     | Compacting | the summary is late: MODEL_CALL_FAILED follows
            Compacting | TimePassed     | Failed    | its life time is over
            Compacting | TaskSuspended  | Suspended |
            Compacting | CancelRequested | Cancelled |
            Compacting | FailureDeclared | Failed   |
            Acting    | ToolReturned    | Acting    | the call is open and others are, too
            Acting    | ToolReturned    | Reasoning | the call was the last open one
            Acting    | ToolReturned    | Compacting | the call was the last open one, and the conversation is about to fill the window
            Acting    | ToolReturned    | Suspended | a person has to agree to the next call, or nothing but children is waited for
            Acting    | ToolReturned    | Failed    | the call was the last open one and a limit is reached, or it was all the work and failed
            Acting    | ToolReturned    | Completed | the call was all the work: its result is the answer
            Acting    | StepCompleted   | Completed | the step is the open response
            Acting    | StepCompleted   | Suspended | the step is the open response, and children in the background are out
            Acting    | ChildEnded      | Acting    | it is a child in the background: the model is told before its next call
            Acting    | TimePassed      | Acting    | a result is late: TOOL_CALL_FAILED follows
            Acting    | TimePassed      | Failed    | its life time is over
            Acting    | TaskSuspended   | Suspended |
            Acting    | CancelRequested | Cancelled |
            Acting    | FailureDeclared | Failed    |
            Suspended | InputReceived   | Suspended | always, except for the very input that started the task: it asks to be admitted
            Suspended | InputReceived   | Failed    | the transcript would be longer than it may be
            Suspended | TaskResumed     | Suspended | new input, or it was suspended by somebody: it asks to be admitted, unless it waits for something else as well
            Suspended | TaskResumed     | Failed    | the transcript would be longer than it may be
            Suspended | ApprovalDecided | Suspended | the call waits for a decision; after the last one it asks to be admitted
            Suspended | TaskSuspended   | Suspended | nobody has suspended it: now it waits for that, too
            Suspended | Admitted        | Reasoning | it goes on with something new, or a model reply is awaited, or all results are in
            Suspended | Admitted        | Compacting | it goes on with something new or with all results, and the conversation is about to fill the window; or a summary is awaited
            Suspended | Admitted        | Acting    | it goes on where it stopped, and a model reply was kept or results are missing
            Suspended | Admitted        | Suspended | it goes on where it stopped, and a person has to agree to a tool call
            Suspended | Admitted        | Failed    | a limit is reached
            Suspended | ChildEnded      | Suspended | it is a child in the background; after the last one it asks to be admitted, if it waits for nothing else
            Suspended | TimePassed      | Suspended | a reply, a result or a decision is late: it follows
            Suspended | TimePassed      | Failed    | its life time is over
            Suspended | ModelReplied    | Suspended | it is the awaited reply: it is kept
            Suspended | Summarised      | Suspended | it is the awaited summary: it is taken
            Suspended | QuestionAsked   | Suspended | it is the awaited reply: an answer is awaited now
            Suspended | ModelCallFailed | Failed    | it is the awaited call
            Suspended | ModelCallFailed | Suspended | it is the awaited call, the conversation is too long and can be made shorter: first of all when it goes on
            Suspended | ToolReturned    | Suspended | the call is open: the result is recorded; after the last child's it asks to be admitted
            Suspended | ToolReturned    | Completed | the call was all the work: its result is the answer
            Suspended | ToolReturned    | Failed    | the call was all the work, and failed or was rejected
            Suspended | CancelRequested | Cancelled |
            Suspended | FailureDeclared | Failed    |
            Completed | TaskResumed     | Idle      | there is new input: it asks to be admitted
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
