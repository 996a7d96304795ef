package dev.millrace.agent.core;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where a task stands: what it is waiting for (DESIGN §4). A state exists only if it changes what is legal. */
public sealed interface TaskState {

    /** The one absent task. */
    TaskState ABSENT = new Absent();

    /** The name of the state as events and people see it (F-126). */
    String label();

    /** Whether it works and so takes one of the places that admission hands out. */
    boolean holdsPlace();

    /** Whether no other task of the session may work: this one does, or has asked a question that the next message answers. */
    boolean holdsSession();

    /** Whether it waits for its turn: {@link TaskEvent.Admitted} is what it needs next. */
    boolean wantsAdmission();

    /** There is no such task yet. */
    record Absent() implements TaskState {
        @Override
        public String label() {
            return "absent";
        }

        @Override
        public boolean holdsPlace() {
            return false;
        }

        @Override
        public boolean holdsSession() {
            return false;
        }

        @Override
        public boolean wantsAdmission() {
            return false;
        }
    }

    /** A task that exists. */
    sealed interface Existing extends TaskState {
        /** What decides beside the state. */
        TaskContext context();

        @Override
        default boolean holdsPlace() {
            return this instanceof Active;
        }

        @Override
        default boolean holdsSession() {
            return holdsPlace() || (this instanceof Suspended suspended && suspended.question() != null);
        }

        @Override
        default boolean wantsAdmission() {
            return this instanceof Idle;
        }
    }

    /** A task that works, or could: it may be suspended (F-126). */
    sealed interface Active extends Existing {}

    /** Waits for admission. */
    record Idle(TaskContext context) implements Existing {
        @Override
        public String label() {
            return "idle";
        }
    }

    /**
     * Waits for one model reply.
     *
     * @param awaiting the call's id; a reply to any other call is stale
     */
    record Reasoning(TaskContext context, String awaiting) implements Active {
        @Override
        public String label() {
            return "reasoning";
        }
    }

    /** Carries out a plan: waits for tool results. */
    record Acting(TaskContext context, Plan plan) implements Active {
        @Override
        public String label() {
            return "acting";
        }
    }

    /**
     * Waits for a person or an event.
     *
     * @param from where it goes on; what arrives meanwhile is recorded in there
     * @param reason why it waits; may be empty (F-137)
     * @param kept a model reply that came while suspended; {@code null} = none
     * @param question what the model asked; {@code null} = it waits for no answer
     */
    record Suspended(
            Active from,
            String reason,
            @Nullable KeptReply kept,
            @Nullable Question question) implements Existing {
        @Override
        public TaskContext context() {
            return from.context();
        }

        @Override
        public String label() {
            return "suspended";
        }
    }

    /** Ended with an answer; accepts new input and nothing else. */
    record Completed(TaskContext context) implements Existing {
        @Override
        public String label() {
            return "completed";
        }
    }

    /** Ended for good. */
    sealed interface Ended extends Existing {}

    /** Ended with an error. */
    record Failed(TaskContext context, TaskError error) implements Ended {
        @Override
        public String label() {
            return "failed";
        }
    }

    /** Ended because someone wanted it to. */
    record Cancelled(TaskContext context, String reason) implements Ended {
        @Override
        public String label() {
            return "cancelled";
        }
    }

    /**
     * A model reply that is paid for and waits until the task goes on.
     *
     * @param text {@code null} = nothing but tool calls
     */
    record KeptReply(@Nullable String text, List<ToolCall> calls) {
        public KeptReply {
            calls = List.copyOf(calls);
        }
    }

    /**
     * A question to a person.
     *
     * @param text the question
     * @param toolCallId the tool call that the answer is the result of; {@code null} = the answer is a plain message
     * @param otherCalls further tool calls of the same reply, which are not carried out
     */
    record Question(String text, @Nullable String toolCallId, List<TranscriptEntry.Call> otherCalls) {
        public Question {
            otherCalls = List.copyOf(otherCalls);
        }
    }
}
