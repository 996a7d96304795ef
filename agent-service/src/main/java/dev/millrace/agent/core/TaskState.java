package dev.millrace.agent.core;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Where a task stands: what it is waiting for. A state exists only if it changes what is legal. */
public sealed interface TaskState {

    /** The one absent task. */
    TaskState ABSENT = new Absent();

    /** The name of the state as events and people see it. */
    String label();

    /** What it waits for; empty = nothing. */
    Optional<Wait> waitsFor();

    /** Whether it works and so takes one of the places that admission hands out. */
    boolean holdsPlace();

    /**
     * Whether no other task of the session may work: this one does, or a child does for it, or it has asked a question
     * that the next message answers.
     */
    boolean holdsSession();

    /** Whether it waits for its turn: {@link TaskEvent.Admitted} is what it needs next. */
    boolean wantsAdmission();

    /** Whether it has asked a question that nobody has answered: the next message of its session is the answer. */
    boolean awaitsAnswer();

    /** There is no such task yet. */
    record Absent() implements TaskState {
        @Override
        public String label() {
            return "absent";
        }

        @Override
        public Optional<Wait> waitsFor() {
            return Optional.empty();
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

        @Override
        public boolean awaitsAnswer() {
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
            return holdsPlace();
        }

        @Override
        default boolean wantsAdmission() {
            return waitsFor().filter(Wait.Admission.class::isInstance).isPresent();
        }

        @Override
        default boolean awaitsAnswer() {
            return waitsFor().filter(Wait.Answer.class::isInstance).isPresent();
        }

        /**
         * How many entries of its transcript can be told to others: all, or those before the turn that has calls
         * without results, as long as these may still come.
         */
        default int toldLength() {
            Plan plan =
                    switch (this) {
                        case Acting acting -> acting.plan();
                        case Suspended suspended when suspended.from() instanceof Acting acting -> acting.plan();
                        default -> null;
                    };
            int length = context().transcriptLength();
            return plan == null || plan.openCalls().isEmpty()
                    ? length
                    : length - 1 - (plan.calls().size() - plan.openCalls().size());
        }
    }

    /** A task that works, or could: it may be suspended. */
    sealed interface Active extends Existing {
        /** The same with other things beside the state. */
        Active with(TaskContext context);
    }

    /** A task that waits for a model. */
    sealed interface Asking extends Active {
        /** The call's id; an answer to any other call is stale. */
        String awaiting();

        /** When it waits no longer, in Unix milliseconds. */
        long deadlineMs();
    }

    /**
     * Waits for admission.
     *
     * @param announced whether TASK_CREATED has been written: so it has of a completed task that is to go on
     * @param expiresAtMs when it is no longer wanted, in Unix milliseconds; {@link Deadlines#NEVER} = it always is
     * @param call all that it is to do then, without a model; {@code null} = a model is asked
     */
    record Idle(
            TaskContext context,
            boolean announced,
            long expiresAtMs,
            @Nullable ToolCall call) implements Existing {

        /** Of which a model is asked. */
        public Idle(TaskContext context, boolean announced, long expiresAtMs) {
            this(context, announced, expiresAtMs, null);
        }

        @Override
        public String label() {
            return "idle";
        }

        @Override
        public Optional<Wait> waitsFor() {
            return Optional.of(new Wait.Admission());
        }
    }

    /**
     * Waits for one model reply.
     *
     * @param awaiting the call's id; a reply to any other call is stale
     * @param deadlineMs when it waits no longer, in Unix milliseconds
     */
    record Reasoning(TaskContext context, String awaiting, long deadlineMs) implements Asking {
        @Override
        public String label() {
            return "reasoning";
        }

        @Override
        public Optional<Wait> waitsFor() {
            return Optional.of(new Wait.Model(awaiting));
        }

        @Override
        public Reasoning with(TaskContext changed) {
            return new Reasoning(changed, awaiting, deadlineMs);
        }
    }

    /**
     * Waits for a summary of the older part of its conversation, before it calls the model. From outside it is
     * reasoning.
     *
     * @param awaiting the call's id; empty if there is none
     * @param deadlineMs when it waits no longer, in Unix milliseconds; {@link Deadlines#NEVER} without a call
     * @param cut the first turn that is kept as it is
     * @param stage how far it is; anything but {@link Stage#ASKED} only while suspended
     */
    record Compacting(TaskContext context, String awaiting, long deadlineMs, ContextWindow.Turn cut, Stage stage)
            implements Asking {

        /** How far a compaction is. */
        public enum Stage {
            /** The summary has to be asked for. */
            WANTED,
            /** The summary is awaited. */
            ASKED,
            /** The summary is in the transcript. */
            DONE
        }

        static Compacting wanted(TaskContext context, ContextWindow.Turn cut) {
            return new Compacting(context, "", Deadlines.NEVER, cut, Stage.WANTED);
        }

        static Compacting asked(TaskContext context, String awaiting, long deadlineMs, ContextWindow.Turn cut) {
            return new Compacting(context, awaiting, deadlineMs, cut, Stage.ASKED);
        }

        Compacting done(TaskContext compacted) {
            return new Compacting(compacted, "", Deadlines.NEVER, cut, Stage.DONE);
        }

        @Override
        public String label() {
            return "reasoning";
        }

        @Override
        public Optional<Wait> waitsFor() {
            return Optional.of(new Wait.Summary(awaiting));
        }

        @Override
        public Compacting with(TaskContext changed) {
            return new Compacting(changed, awaiting, deadlineMs, cut, stage);
        }
    }

    /** Carries out a plan: waits for tool results. */
    record Acting(TaskContext context, Plan plan) implements Active {

        /** Whether the plan is all that the task is to do: no model has made it. */
        boolean isAllTheWork() {
            return context.iteration() == 0;
        }

        @Override
        public String label() {
            return "acting";
        }

        @Override
        public Optional<Wait> waitsFor() {
            List<String> open = Wait.ids(plan.openCalls());
            return open.isEmpty() ? Optional.empty() : Optional.of(new Wait.Tools(open));
        }

        @Override
        public Acting with(TaskContext changed) {
            return new Acting(changed, plan);
        }
    }

    /**
     * Waits for a person or an event, or, when that has come, for admission.
     *
     * @param from where it goes on; what arrives meanwhile is recorded in there
     * @param reason why it waits; may be empty
     * @param byHand whether somebody wants it to wait, until somebody says otherwise
     * @param kept a model reply that came while suspended; {@code null} = none
     * @param question what the model asked; {@code null} = nothing
     * @param next how it goes on once it is admitted; {@code null} = it has no reason to yet
     */
    record Suspended(
            Active from,
            String reason,
            boolean byHand,
            @Nullable KeptReply kept,
            @Nullable Question question,
            @Nullable Continuation next)
            implements Existing {

        static final String FOR_APPROVAL = "waiting for approval";

        static final String FOR_CHILDREN = "waiting for sub-tasks";

        /** Suspended by somebody. */
        static Suspended byHand(Active from, String reason) {
            return new Suspended(from, reason, true, null, null, null);
        }

        /** Suspended until open tool calls of the plan are decided on. */
        static Suspended forApproval(Acting from) {
            return new Suspended(from, FOR_APPROVAL, false, null, null, null);
        }

        /** Suspended until children have ended. */
        static Suspended forChildren(Acting from) {
            return new Suspended(from, FOR_CHILDREN, false, null, null, null);
        }

        Suspended from(Active changed) {
            return new Suspended(changed, reason, byHand, kept, question, next);
        }

        Suspended goingOn(Continuation how) {
            return new Suspended(from, reason, false, kept, question, how);
        }

        Suspended heldByHand(boolean held, String why) {
            return new Suspended(from, why, held, kept, question, next);
        }

        /** Whether the model call that it was suspended in is still out. */
        public boolean awaitsReply() {
            return switch (from) {
                case Reasoning r -> kept == null && question == null;
                case Compacting c -> c.stage() == Compacting.Stage.ASKED;
                case Acting a -> false;
            };
        }

        /** Empty = nothing keeps it from going on. */
        @Override
        public Optional<Wait> waitsFor() {
            if (next != null) {
                return Optional.of(new Wait.Admission());
            }
            if (question != null) {
                return Optional.of(new Wait.Answer(question.text()));
            }
            if (!undecided().isEmpty()) {
                return Optional.of(new Wait.Approval(Wait.ids(undecided())));
            }
            if (byHand) {
                return Optional.of(new Wait.Resume());
            }
            return from instanceof Acting acting && awaitsChildren(acting)
                    ? Optional.of(new Wait.Children(acting.context().children().out().stream()
                            .map(Children.Child::callId)
                            .toList()))
                    : Optional.empty();
        }

        private static boolean awaitsChildren(Acting acting) {
            return acting.plan().calls().isEmpty()
                    ? acting.context().children().anyInBackground()
                    : acting.plan().waitsForChildren();
        }

        @Override
        public boolean holdsSession() {
            // a child in the background leaves the session to others; one whose answer is a tool's result is work of
            // the task
            return question != null
                    || (from instanceof Acting acting
                            && !acting.plan().done()
                            && waitsFor()
                                    .filter(Wait.Children.class::isInstance)
                                    .isPresent());
        }

        /** The tool calls that it waits for people to decide on. */
        public List<Plan.CallStep> undecided() {
            return from instanceof Acting acting ? acting.plan().undecided() : List.of();
        }

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

        @Override
        public Optional<Wait> waitsFor() {
            return Optional.empty();
        }
    }

    /** Ended for good. */
    sealed interface Ended extends Existing {
        @Override
        default Optional<Wait> waitsFor() {
            return Optional.empty();
        }
    }

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
     * @param sequential whether the calls are to run one after the other
     * @param continuation what the provider wants to see again with it, opaque; {@code null} = nothing
     */
    record KeptReply(
            @Nullable String text,
            List<ToolCall> calls,
            boolean sequential,
            @Nullable String continuation) {
        public KeptReply {
            calls = List.copyOf(calls);
        }

        /** Of which the provider wants to see nothing again. */
        public KeptReply(@Nullable String text, List<ToolCall> calls, boolean sequential) {
            this(text, calls, sequential, null);
        }
    }

    /**
     * How a suspended task goes on.
     *
     * @param said what people said to it, in order; the first is the answer, where the model asked. Empty = from where
     *     it stopped
     */
    record Continuation(List<Said> said) {
        /** From where it stopped. */
        static final Continuation ON = new Continuation(List.of());

        public Continuation {
            said = List.copyOf(said);
        }

        /** The same and this. */
        Continuation and(Said more) {
            return new Continuation(
                    Stream.concat(said.stream(), Stream.of(more)).toList());
        }

        List<String> texts() {
            return said.stream().map(Said::text).toList();
        }
    }

    /**
     * Something that was said to a task.
     *
     * @param eventId the event that brought it, so that its double is known
     */
    record Said(String eventId, String text) {}

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
