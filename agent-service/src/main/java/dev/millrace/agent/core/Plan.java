package dev.millrace.agent.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The steps that follow from one reply of the model (F-144, F-146): one per tool call, or a single response.
 *
 * @param steps in the order in which the model asked; never empty
 */
public record Plan(List<Step> steps) {

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
     */
    public record CallStep(int index, String callId, String toolCallId, String toolName, boolean completed)
            implements Step {
        @Override
        public String description() {
            return "Call tool: " + toolName;
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

    /** The plan for a reply: no model call, no transition (F-081). */
    static Plan of(TaskContext context, Meta cause, @Nullable String text, List<ToolCall> calls) {
        if (calls.isEmpty()) {
            return new Plan(List.of(new RespondStep(0, text, false)));
        }
        List<Step> steps = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
            ToolCall call = calls.get(i);
            steps.add(new CallStep(i, context.callId(i + 1, cause), call.toolCallId(), call.toolName(), false));
        }
        return new Plan(steps);
    }

    /** The step that waits for this call's result. */
    Optional<CallStep> awaiting(String callId) {
        return openCalls().stream().filter(step -> step.callId().equals(callId)).findFirst();
    }

    /** Tool calls without a result, in order. */
    List<CallStep> openCalls() {
        return steps.stream()
                .filter(step -> !step.completed())
                .filter(CallStep.class::isInstance)
                .map(CallStep.class::cast)
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

    /** Whether any step is a tool call, which means that the model must see results (F-088, F-130). */
    public boolean hasToolCall() {
        return steps.stream().anyMatch(CallStep.class::isInstance);
    }

    /** The same plan with one step done; an unknown index changes nothing (F-145). */
    Plan markDone(int index) {
        return new Plan(steps.stream()
                .map(step -> step.index() != index ? step : done(step))
                .toList());
    }

    private static Step done(Step step) {
        return switch (step) {
            case CallStep s -> new CallStep(s.index(), s.callId(), s.toolCallId(), s.toolName(), true);
            case RespondStep s -> new RespondStep(s.index(), s.response(), true);
        };
    }
}
