package dev.millrace.llm.scripted;

import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ChatMessage.SystemMessage;
import dev.millrace.llm.ChatMessage.ToolMessage;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.StreamListener;
import dev.millrace.llm.ToolCallRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/**
 * Answers by a {@link Script}. Equal requests get equal replies, except where the script lets the first attempts fail;
 * an answer takes the latency that the script states and no more.
 */
public final class ScriptedModel implements LanguageModel {

    private static final Duration HANG = Duration.ofDays(1);

    private final Script script;
    private final @Nullable CallLog callLog;
    private final Sleeper sleeper;
    private final Series series = new Series();

    /** How the latency passes; a test need not wait for it. */
    interface Sleeper {
        void sleep(Duration pause) throws InterruptedException;
    }

    /** A model that follows the script and logs its calls where the script says. */
    public ScriptedModel(Script script) {
        this(script, script.callLog());
    }

    /** A model that logs its calls to the given file; null = nowhere. */
    public ScriptedModel(Script script, @Nullable Path callLog) {
        this(script, callLog, Thread::sleep);
    }

    ScriptedModel(Script script, @Nullable Path callLog, Sleeper sleeper) {
        this.script = script;
        this.callLog = callLog == null ? null : new CallLog(callLog);
        this.sleeper = sleeper;
    }

    @Override
    public String providerOf(@Nullable String model) {
        return "scripted";
    }

    @Override
    public String name() {
        return script.modelName();
    }

    @Override
    public String description() {
        return "scripted model, not a real one (" + script.source() + ")";
    }

    @Override
    public ModelReply chat(ModelRequest request) throws ModelCallException {
        return answer(request, null);
    }

    @Override
    public ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
        return answer(request, listener);
    }

    /** A whole reply takes as long as its stream. */
    private ModelReply answer(ModelRequest request, @Nullable StreamListener listener) throws ModelCallException {
        if (callLog != null) {
            callLog.append(request.callId());
        }
        Turn turn = Turn.of(request, script.knowsRequests());
        ScriptRule.Match match = script.match(turn, series);
        Latency latency = match.reply().latencyMs();
        if (latency != null) {
            pass(latency.at(fraction(request.callId())));
        }
        ScriptRule.Fault fault = dueFault(match, request.callId());
        if (fault != null && fault.afterChars() == null) {
            throw failure(fault);
        }
        ModelReply reply;
        try {
            reply = render(request, turn, match);
        } catch (Template.UnresolvedException e) {
            throw new ModelCallException(
                    ModelErrorCode.SCRIPT_ERROR,
                    script.source() + ", rule " + match.rule().name() + ": " + e.getMessage());
        }
        ReplyStream stream = new ReplyStream(Objects.requireNonNull(match.reply().stream()), this::pass, listener);
        if (fault != null) {
            stream.begin(reply, Objects.requireNonNull(fault.afterChars()));
            throw failure(fault);
        }
        stream.send(reply);
        return reply;
    }

    private void pass(Duration pause) throws ModelCallException {
        if (pause.isZero()) {
            return;
        }
        try {
            sleeper.sleep(pause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ModelCallException(
                    ModelErrorCode.CANCELLED, "interrupted while the scripted model was busy", false, null, e);
        }
    }

    /** The fault that this attempt meets; null if it meets none. */
    private ScriptRule.@Nullable Fault dueFault(ScriptRule.Match match, String callId) {
        ScriptRule.Fault fault = match.reply().fail();
        if (fault == null || fault.times() == null) {
            return fault;
        }
        String key = fault.per() == ScriptRule.Scope.CALL ? match.key() + ' ' + callId : match.key();
        return series.attempt(key) > fault.times() ? null : fault;
    }

    /** What to throw; for a model that hangs, only after longer than anybody waits. */
    private ModelCallException failure(ScriptRule.Fault fault) throws ModelCallException {
        if (fault.hang()) {
            pass(HANG);
        }
        Duration retryAfter = fault.retryAfterMs() == null ? null : Duration.ofMillis(fault.retryAfterMs());
        return new ModelCallException(fault.code(), fault.message(), fault.retryable(), retryAfter, null);
    }

    /** Where a call lies in the latencies: above 0, below 1, the same for each of its attempts. */
    private double fraction(String callId) {
        return (new SplittableRandom(script.seed() * 31 + callId.hashCode()).nextLong() >>> 12) * 0x1.0p-52 + 0x1.0p-53;
    }

    private ModelReply render(ModelRequest request, Turn turn, ScriptRule.Match match)
            throws Template.UnresolvedException {
        ScriptRule.Reply reply = match.reply();
        Matcher user = match.user();
        String text = reply.text() == null ? null : reply.text().render(turn, user);
        String reasoning = reply.reasoning() == null ? null : reply.reasoning().render(turn, user);
        List<ToolCallRequest> calls = new ArrayList<>();
        for (ScriptRule.Call call : reply.calls()) {
            calls.add(new ToolCallRequest(
                    ToolCallRequest.derivedId(request.callId(), calls.size()),
                    call.tool(),
                    ScriptValue.render(call.arguments(), turn, user),
                    call.malformedArguments()));
        }
        FinishReason finish = reply.finishReason();
        if (finish == null) {
            finish = calls.isEmpty() ? FinishReason.STOP : FinishReason.TOOL_CALLS;
        }
        Usage usage = reply.usage() == null
                ? estimate(request, text, reasoning, calls)
                : reply.usage().usage();
        return new ModelReply(text, reasoning, calls, finish, usage, script.modelName());
    }

    /** A token is taken as four characters, rounded up: close enough for budgets, and always the same. */
    private static Usage estimate(
            ModelRequest request, @Nullable String text, @Nullable String reasoning, List<ToolCallRequest> calls) {
        long in = 0;
        for (ChatMessage message : request.messages()) {
            in += switch (message) {
                case SystemMessage m -> m.text().length();
                case UserMessage m -> m.text().length();
                case AssistantMessage m -> length(m.text()) + length(m.toolCalls());
                case ToolMessage m -> m.content().length();
            };
        }
        return new Usage((in + 3) / 4, (length(text) + length(reasoning) + length(calls) + 3) / 4);
    }

    private static long length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }

    private static long length(List<ToolCallRequest> calls) {
        return calls.stream()
                .mapToLong(c -> c.toolName().length()
                        + (c.malformedArguments() == null
                                ? c.arguments().toString().length()
                                : c.malformedArguments().length()))
                .sum();
    }
}
