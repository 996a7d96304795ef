package dev.millrace.agent.thinker;

import dev.millrace.agent.Agents;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.Passages;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.schemas.Event;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a model is asked in a call, and which event its reply becomes. Asks nobody by itself, and knows no clock. */
public final class ModelTurn {

    private final Prompts prompts;
    private final ShownPassages passages;

    /** Turns of agents that look things up themselves, if at all. */
    public ModelTurn(Agents agents, ToolRouting routing, MemoryIndex memory) {
        this(agents, routing, memory, Passages.NONE);
    }

    /** @param passages finds what agents are shown of documents */
    public ModelTurn(Agents agents, ToolRouting routing, MemoryIndex memory, Passages passages) {
        this.passages = new ShownPassages(passages);
        this.prompts = new Prompts(agents, routing, memory, this.passages);
    }

    /**
     * What a model is asked.
     *
     * @param summedUp what was said to the task last in the part that is to be summed up; {@code null} = nothing is
     */
    record Asked(ModelRequest request, @Nullable String summedUp) {}

    /** The model that a call asks; {@code null} = the default one. */
    @Nullable
    String model(OutstandingCall call) {
        return prompts.model(call);
    }

    /** @param contextWindow of that model, in tokens */
    Asked ask(OutstandingCall call, List<TranscriptEntry> transcript, int contextWindow) throws InterruptedException {
        return call.shown().toSumUp()
                ? new Asked(
                        Summaries.request(call, transcript, prompts.model(call), contextWindow)
                                .fallingBackTo(prompts.fallback(call)),
                        Summaries.request(transcript))
                : new Asked(prompts.request(call, transcript), null);
    }

    /** What to ask in place of an answer that does not have the form that its agent wants. */
    Optional<ModelRequest> correction(OutstandingCall call, ModelRequest request, ModelReply reply) {
        if (call.shown().toSumUp()) {
            return Optional.empty();
        }
        return prompts.outputCheck(call)
                .map(check -> check.problems(reply))
                .filter(problems -> !problems.isEmpty())
                .map(problems -> OutputCheck.again(request, reply, problems));
    }

    /** @param summedUp as {@link Asked} has it */
    Event reply(OutstandingCall call, ModelOutcome outcome, @Nullable String summedUp, int contextWindow, Instant now) {
        if (call.shown().toSumUp()) {
            return Replies.ofSummary(call, outcome, summedUp, now);
        }
        Optional<OutputCheck> check = prompts.outputCheck(call);
        if (!(outcome instanceof ModelOutcome.Replied replied)) {
            return Replies.of(call, outcome, contextWindow, now);
        }
        if (check.isEmpty()) {
            return Replies.of(
                    call,
                    new ModelOutcome.Replied(
                            passages.withSources(call, replied.reply()),
                            replied.attempts(),
                            replied.insteadOf(),
                            replied.charges()),
                    contextWindow,
                    now);
        }
        List<String> problems = check.get().problems(replied.reply());
        return problems.isEmpty()
                ? Replies.of(
                        call,
                        new ModelOutcome.Replied(
                                OutputCheck.bare(replied.reply()),
                                replied.attempts(),
                                replied.insteadOf(),
                                replied.charges()),
                        contextWindow,
                        now)
                : Replies.mismatch(call, outcome, problems, now);
    }

    /**
     * Has a model answer in this thread, once, and once more where the form of its answer is wrong: for tests, which
     * need none of the waiting of a {@link Thinker}.
     */
    public Event answer(OutstandingCall call, List<TranscriptEntry> transcript, LanguageModel model, Instant now) {
        int contextWindow = model.contextWindow(model(call));
        Asked asked;
        try {
            asked = ask(call, transcript, contextWindow);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while looking for passages", e);
        }
        return reply(call, outcome(call, asked.request(), model), asked.summedUp(), contextWindow, now);
    }

    private ModelOutcome outcome(OutstandingCall call, ModelRequest request, LanguageModel model) {
        int attempts = 1;
        try {
            ModelReply reply = model.chat(request);
            Optional<ModelRequest> again = correction(call, request, reply);
            if (again.isPresent()) {
                attempts++;
                reply = model.chat(again.get());
            }
            return new ModelOutcome.Replied(reply, attempts);
        } catch (ModelCallException e) {
            return new ModelOutcome.Failed(e, attempts);
        }
    }
}
