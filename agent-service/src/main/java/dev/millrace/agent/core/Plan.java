package dev.millrace.agent.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The steps that follow from one reply of the model: one per tool call, or a single response.
 *
 * @param steps in the order in which the model asked; never empty
 * @param sequential whether a tool call is asked for only when the one before it is done; else all at once
 */
public record Plan(List<Step> steps, boolean sequential) {

    public Plan {
        steps = List.copyOf(steps);
    }

    /** One step. */
    public sealed interface Step {
        /** Position in the plan, from 0. */
        int index();

        /** Whether it is done. */
        boolean completed();

        /** What it does, in words. */
        String description();
    }

    /**
     * Run a tool.
     *
     * @param callId our id, the tool's idempotency key
     * @param toolCallId the provider's id
     * @param standing how far the call is
     */
    public record CallStep(int index, String callId, String toolCallId, String toolName, Standing standing)
            implements Step {
        @Override
        public boolean completed() {
            return standing instanceof Done;
        }

        @Override
        public String description() {
            return "Call tool: " + toolName;
        }

        CallStep standing(Standing next) {
            return new CallStep(index, callId, toolCallId, toolName, next);
        }
    }

    /**
     * Answer.
     *
     * @param response {@code null} = the model had nothing to say
     */
    public record RespondStep(int index, @Nullable String response, boolean completed) implements Step {
        @Override
        public String description() {
            return "Respond to the user";
        }
    }

    /** How far a tool call is. */
    public sealed interface Standing {}

    /**
     * It is to run and has not been asked for: its turn has not come, or it was approved and the task waits for its
     * own.
     *
     * @param arguments a JSON object as text, exactly as the tool will get them
     * @param edited whether a person has changed what the model asked for
     */
    public record Held(String arguments, ToolCall.Route route, boolean edited) implements Standing {}

    /**
     * A person has to agree.
     *
     * @param arguments a JSON object as text; it runs with these unless the person changes them
     * @param run how it runs then
     * @param expiresAtMs when it is decided without the person, in Unix milliseconds
     */
    public record Deciding(String arguments, ToolCall.Run run, long expiresAtMs) implements Standing {}

    /**
     * A result is awaited.
     *
     * @param timeoutMs how long the tool itself may take, in milliseconds; 0 = nobody was asked, the result is on its
     *     way
     * @param deadlineMs when the task waits no longer, in Unix milliseconds
     * @param editedArguments what a person has changed the arguments to; {@code null} = nothing
     */
    public record Requested(
            long timeoutMs, long deadlineMs, @Nullable String editedArguments) implements Standing {
        /** The machine itself gives the result. */
        static final Requested OF_NOBODY = new Requested(0, Deadlines.NEVER, null);
    }

    /**
     * A child works on it, and its answer is the result; it has no deadline of its own, since the child lives no longer
     * than its parent.
     *
     * @param childId the child
     */
    public record Delegated(String childId) implements Standing {}

    /** The result is in the transcript. */
    public record Done() implements Standing {}

    /** The plan for a reply without tool calls: no model call, no transition. */
    static Plan response(@Nullable String text) {
        return new Plan(List.of(new RespondStep(0, text, false)), false);
    }

    /** The plan for a reply without tool calls, after it was given. */
    static Plan responded(RespondStep step) {
        return new Plan(List.of(new RespondStep(step.index(), step.response(), true)), false);
    }

    /** The plan for a reply with tool calls; none of them has been asked for. */
    static Plan of(TaskContext context, Meta cause, List<ToolCall> calls, boolean sequential) {
        List<Step> steps = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
            ToolCall call = calls.get(i);
            steps.add(new CallStep(
                    i,
                    context.callId(i + 1, cause),
                    call.toolCallId(),
                    call.toolName(),
                    new Held(call.arguments(), call.route(), false)));
        }
        return new Plan(steps, sequential);
    }

    /** The call with this id, if it awaits a result. */
    Optional<CallStep> awaiting(String callId) {
        return call(callId)
                .filter(step -> step.standing() instanceof Requested || step.standing() instanceof Delegated);
    }

    /** The call with this id. */
    Optional<CallStep> call(String callId) {
        return calls().stream().filter(step -> step.callId().equals(callId)).findFirst();
    }

    /** All tool calls, in order. */
    public List<CallStep> calls() {
        return steps.stream()
                .filter(CallStep.class::isInstance)
                .map(CallStep.class::cast)
                .toList();
    }

    /** Tool calls without a result, in order. */
    public List<CallStep> openCalls() {
        return calls().stream().filter(step -> !step.completed()).toList();
    }

    /** Tool calls that a person has to decide on, in order. */
    public List<CallStep> undecided() {
        return calls().stream()
                .filter(step -> step.standing() instanceof Deciding)
                .toList();
    }

    /** Whether nothing can be done until a child has answered. */
    boolean waitsForChildren() {
        List<CallStep> open = openCalls();
        return open.stream().anyMatch(step -> step.standing() instanceof Delegated)
                && open.stream()
                        .allMatch(step -> step.standing() instanceof Delegated || step.standing() instanceof Held)
                && startable().isEmpty();
    }

    /** Tool calls whose turn it is. */
    List<CallStep> startable() {
        return openCalls().stream()
                .limit(sequential ? 1 : Integer.MAX_VALUE)
                .filter(step -> step.standing() instanceof Held)
                .toList();
    }

    /** The response step with this index if it is not done. */
    Optional<RespondStep> openResponse(int index) {
        return steps.stream()
                .filter(step -> !step.completed() && step.index() == index)
                .filter(RespondStep.class::isInstance)
                .map(RespondStep.class::cast)
                .findFirst();
    }

    /** Whether no step is open. */
    public boolean done() {
        return steps.stream().allMatch(Step::completed);
    }

    /** The same plan with one call standing otherwise; an unknown id changes nothing. */
    Plan with(String callId, UnaryOperator<CallStep> change) {
        return new Plan(
                steps.stream()
                        .map(step ->
                                step instanceof CallStep call && call.callId().equals(callId)
                                        ? change.apply(call)
                                        : step)
                        .toList(),
                sequential);
    }

    Plan with(CallStep step, Standing standing) {
        return with(step.callId(), call -> call.standing(standing));
    }
}
