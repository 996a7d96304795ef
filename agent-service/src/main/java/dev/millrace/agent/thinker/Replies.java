package dev.millrace.agent.thinker;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.engine.ModelUsage;
import dev.millrace.engine.ReplyLimits;
import dev.millrace.engine.ReplyPayloads;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Turns what came of a model call into an event: REASON_DONE, NEED_MORE_INFO, CONTEXT_COMPACTED or MODEL_CALL_FAILED,
 * and MODEL_CALL_ABANDONED if nobody waits for it any more. Each says what the call used.
 */
final class Replies {

    /** The longest question to a person, in characters. */
    static final int MAX_QUESTION = 100_000;

    private Replies() {}

    /** @param contextWindow tokens that the model takes that was asked */
    static Event of(OutstandingCall call, ModelOutcome outcome, int contextWindow, Instant now) {
        return switch (ReplyLimits.within(call.callId(), outcome)) {
            case ModelOutcome.Replied replied ->
                checked(call, outcome, replied(call, replied, contextWindow, now), now);
            case ModelOutcome.Failed failed -> failed(call, outcome, Reason.of(failed.error()), now);
        };
    }

    /** The event of a reply, or of its call's failure if nobody could take it. */
    private static Event checked(OutstandingCall call, ModelOutcome outcome, Event reply, Instant now) {
        return ReplyLimits.problem(reply)
                .map(why -> failed(
                        call,
                        outcome,
                        new Reason(
                                ModelErrorCode.BAD_RESPONSE, "The model's reply cannot be taken, since " + why, false),
                        now))
                .orElse(reply);
    }

    /** @param request what was said to the task last in the part that is summed up; {@code null} = nothing */
    static Event ofSummary(OutstandingCall call, ModelOutcome outcome, @Nullable String request, Instant now) {
        return switch (outcome) {
            case ModelOutcome.Failed failed -> failed(call, outcome, Reason.of(failed.error()), now);
            case ModelOutcome.Replied replied
            when replied.reply().text() == null ->
                failed(
                        call,
                        outcome,
                        new Reason(
                                ModelErrorCode.BAD_RESPONSE, "The model was asked for a summary and gave none", false),
                        now);
            case ModelOutcome.Replied replied -> checked(call, outcome, summary(call, replied, request, now), now);
        };
    }

    /** In place of a reply that no broker takes. */
    static Event tooLarge(OutstandingCall call, ModelOutcome outcome, Instant now) {
        return failed(
                call,
                outcome,
                new Reason(ModelErrorCode.BAD_RESPONSE, "The model's reply is larger than a record may be", false),
                now);
    }

    /**
     * What a call had come to that was cut off. The same call may be made and cut off again, so the time is in the id.
     */
    static Event abandoned(OutstandingCall call, ModelOutcome outcome, Instant now) {
        String id = Ids.hash(call.key() + "\nabandoned\n" + now).substring(0, 32);
        return call.event(id, KnownEventType.MODEL_CALL_ABANDONED, now)
                .payload(payloads(call).cutOff(outcome))
                .build();
    }

    private static Event summary(
            OutstandingCall call, ModelOutcome.Replied outcome, @Nullable String request, Instant now) {
        ModelReply reply = outcome.reply();
        ModelUsage used = ModelUsage.of(call.takeovers(), outcome);
        return call.reply(KnownEventType.CONTEXT_COMPACTED, now)
                .payload(new Payload.ContextCompacted(
                        call.callId(),
                        String.valueOf(reply.text()),
                        request,
                        (long) call.transcriptLength(),
                        reply.model(),
                        reply.finishReason().wireName(),
                        used.usage(),
                        fallback(outcome),
                        used.failedAttempts(),
                        agent(call)))
                .build();
    }

    private static Payload.@Nullable Fallback fallback(ModelOutcome.Replied outcome) {
        ModelCallException failed = outcome.insteadOf();
        return failed == null
                ? null
                : new Payload.Fallback(
                        failed.code().wireName(), Reason.of(failed).error());
    }

    /** The answer does not have the form that it should, and neither had the one before. */
    static Event mismatch(OutstandingCall call, ModelOutcome outcome, List<String> problems, Instant now) {
        return failed(
                call,
                outcome,
                new Reason(
                        ModelErrorCode.OUTPUT_MISMATCH,
                        JsonText.cut(
                                "Expected an answer of the agent's form, found twice one that is not: "
                                        + String.join("; ", problems),
                                ReplyLimits.MAX_ERROR),
                        false),
                now);
    }

    private static Event replied(OutstandingCall call, ModelOutcome.Replied outcome, int contextWindow, Instant now) {
        ModelReply reply = outcome.reply();
        ModelUsage used = ModelUsage.of(call.takeovers(), outcome);
        Optional<ToolCallRequest> question = question(reply);
        String approach = reply.toolCalls().isEmpty() ? "direct" : "tool_use";
        List<Payload.RequestedCall> calls = ReplyPayloads.toolCalls(reply.toolCalls());
        Payload payload = question.isPresent()
                ? new Payload.NeedMoreInfo(
                        call.callId(),
                        String.valueOf(question.get().arguments().get("question")),
                        question.get().toolCallId(),
                        reply.text(),
                        approach,
                        true,
                        calls,
                        reply.model(),
                        reply.finishReason().wireName(),
                        used.usage(),
                        used.failedAttempts(),
                        agent(call),
                        fallback(outcome),
                        reply.reasoning(),
                        (long) contextWindow,
                        reply.continuation())
                : new Payload.ReasonDone(
                        call.callId(),
                        reply.text(),
                        approach,
                        false,
                        calls,
                        steps(reply),
                        reply.model(),
                        reply.finishReason().wireName(),
                        used.usage(),
                        used.failedAttempts(),
                        agent(call),
                        fallback(outcome),
                        reply.reasoning(),
                        (long) contextWindow,
                        reply.continuation());
        return call.reply(question.isPresent() ? KnownEventType.NEED_MORE_INFO : KnownEventType.REASON_DONE, now)
                .payload(payload)
                .build();
    }

    private static ReplyPayloads payloads(OutstandingCall call) {
        return new ReplyPayloads(call.callId(), call.takeovers(), agent(call));
    }

    private static String agent(OutstandingCall call) {
        return AgentDefinition.nameIn(call.agent().reference());
    }

    /** Why a call failed. */
    private record Reason(ModelErrorCode code, String error, boolean retryable) {
        static Reason of(ModelCallException error) {
            return new Reason(error.code(), JsonText.cut(error.getMessage(), ReplyLimits.MAX_ERROR), error.retryable());
        }
    }

    private static Event failed(OutstandingCall call, ModelOutcome outcome, Reason reason, Instant now) {
        return call.reply(KnownEventType.MODEL_CALL_FAILED, now)
                .payload(payloads(call).failed(outcome, reason.code(), reason.error(), reason.retryable()))
                .build();
    }

    /**
     * The first well-formed call of {@code ask_user}; without a question, or with one too long to be shown, it is an
     * ordinary call of an unknown tool.
     */
    private static Optional<ToolCallRequest> question(ModelReply reply) {
        return reply.toolCalls().stream()
                .filter(call -> call.toolName().equals(Prompts.ASK_USER))
                .filter(call -> call.arguments().get("question") instanceof String text
                        && !text.isBlank()
                        && text.length() <= MAX_QUESTION)
                .findFirst();
    }

    /** The plan as people read it in the journal; the machine makes its own from the tool calls. */
    private static List<Payload.Step> steps(ModelReply reply) {
        if (reply.toolCalls().isEmpty()) {
            return List.of(new Payload.Step(0, "Respond to the user", "respond", null));
        }
        List<Payload.Step> steps = new ArrayList<>();
        for (ToolCallRequest call : reply.toolCalls()) {
            steps.add(new Payload.Step(steps.size(), "Call tool: " + call.toolName(), "tool_call", call.toolName()));
        }
        return steps;
    }
}
