package dev.millrace.llm.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelCharge;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ToolCallRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A reply as far as it has been read. A {@link Wire} adds to it what it finds in a whole reply or in the pieces of a
 * stream, in the provider's order; every piece goes on to whoever listens. Used by one thread.
 */
final class ReplyDraft {

    /** For a piece of a tool call that does not say which call it belongs to. */
    static final int NO_INDEX = -1;

    private static final TypeReference<Map<String, @Nullable Object>> OBJECT = new TypeReference<>() {};

    private final Question question;
    private final Listener listener;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final List<Call> calls = new ArrayList<>();
    private final Map<Integer, Call> callsByIndex = new HashMap<>();
    private String textBreak = "";
    private String reasoningBreak = "";
    private FinishReason finishReason = FinishReason.OTHER;
    private boolean complete;
    private String model;
    private String refusal = "";
    private @Nullable String filtered;
    private long input;
    private long output;
    private long cached;
    private long cacheWrites;
    private long reasoningTokens;
    private int signed;

    /** What the provider wants to see again with the tool calls of this turn, in its own form. */
    final ArrayNode again = WireJson.MAPPER.createArrayNode();

    /** Where pieces go. */
    interface Listener {
        void onDelta(ModelDelta delta) throws ModelCallException;
    }

    private static final class Call {
        private final int position;
        private final StringBuilder arguments = new StringBuilder();
        private String id = "";
        private String name = "";
        private boolean delivered;

        Call(int position) {
            this.position = position;
        }
    }

    ReplyDraft(Question question, Listener listener) {
        this.question = question;
        this.listener = listener;
        this.model = question.model();
    }

    /** Who answers, as the provider calls it; empty if it does not say. */
    void model(String name) {
        model = name.isEmpty() ? model : name;
    }

    void text(String piece) throws ModelCallException {
        if (!piece.isEmpty()) {
            String broken = textBreak + piece;
            textBreak = "";
            text.append(broken);
            listener.onDelta(new ModelDelta.Text(broken));
        }
    }

    void reasoning(String piece) throws ModelCallException {
        if (!piece.isEmpty()) {
            String broken = reasoningBreak + piece;
            reasoningBreak = "";
            reasoning.append(broken);
            listener.onDelta(new ModelDelta.Reasoning(broken));
        }
    }

    /** What follows begins on a line of its own. */
    void nextLine() {
        textBreak = text.isEmpty() ? "" : "\n";
        reasoningBreak = reasoning.isEmpty() ? "" : "\n";
    }

    /**
     * A piece of a tool call.
     *
     * @param index the provider's number of the call, or {@link #NO_INDEX}; another id begins another call all the same
     * @param id empty = not said here
     * @param name likewise
     * @param arguments more of their JSON text
     */
    void call(int index, String id, String name, String arguments) throws ModelCallException {
        Call call = callsByIndex.get(index);
        if (call == null || !(id.isEmpty() || call.id.isEmpty() || id.equals(call.id))) {
            call = new Call(calls.size());
            calls.add(call);
            callsByIndex.put(index, call);
        }
        call.id = call.id.isEmpty() ? id : call.id;
        call.name = call.name.isEmpty() ? name : call.name;
        call.arguments.append(arguments);
        if (!arguments.isEmpty()) {
            deliver(call, arguments);
        }
    }

    /** A tool call that comes in one piece. */
    void wholeCall(String id, String name, JsonNode arguments) throws ModelCallException {
        call(calls.size(), id, name, arguments.isMissingNode() ? "" : arguments.toString());
    }

    private void deliver(Call call, String arguments) throws ModelCallException {
        call.delivered = true;
        listener.onDelta(new ModelDelta.ToolCall(
                call.position, call.id.isEmpty() ? null : call.id, call.name.isEmpty() ? null : call.name, arguments));
    }

    /**
     * Takes the signature of the next tool call; a missing one keeps its place if another one follows or went before.
     */
    void signature(JsonNode signature) {
        if (signature.isTextual()) {
            while (again.size() < signed) {
                again.addNull();
            }
            again.add(signature);
        }
        signed++;
    }

    /** Takes counts that are said so far; a later and greater one replaces an earlier one. */
    void input(long all, long fromCache, long intoCache) {
        input = Math.max(input, all);
        cached = Math.max(cached, fromCache);
        cacheWrites = Math.max(cacheWrites, intoCache);
    }

    /** As {@link #input}. */
    void output(long all, long thinking) {
        output = Math.max(output, all);
        reasoningTokens = Math.max(reasoningTokens, thinking);
    }

    /** More of the model's words of refusal, or the provider's name for it. */
    void refusal(String words) {
        refusal += words;
    }

    /** The provider's name for what its filter found. */
    FinishReason filtered(String found) {
        filtered = found;
        return FinishReason.CONTENT_FILTER;
    }

    void finish(FinishReason reason) {
        finishReason = reason;
    }

    /** The provider said that the reply is complete. */
    void complete() {
        complete = true;
    }

    /** {@link #finish} and {@link #complete}. */
    void finished(FinishReason reason) {
        finish(reason);
        complete();
    }

    /** The end of a stream: fails if the reply is not whole, and sends on the calls without arguments. */
    void endOfStream(ProviderFailures failures) throws ModelCallException {
        if (!complete) {
            failIfRefused(failures);
            throw failures.cutShort();
        }
        for (Call call : calls) {
            if (!call.delivered) {
                deliver(call, "{}");
            }
        }
    }

    /**
     * The reply.
     *
     * @param nextRequestIn how long the provider will take no further request; null if it says nothing like it
     */
    ModelReply reply(ProviderFailures failures, @Nullable Duration nextRequestIn) throws ModelCallException {
        boolean nothing = text.isEmpty() && calls.isEmpty();
        if (nothing || !refusal.isEmpty()) {
            failIfRefused(failures);
        }
        if (nothing && finishReason == FinishReason.OTHER) {
            throw failures.unreadable(null);
        }
        // some servers say "stop" beside tool calls
        boolean vague = finishReason == FinishReason.STOP || finishReason == FinishReason.OTHER;
        return new ModelReply(
                text.toString(),
                reasoning.toString(),
                calls.stream().map(this::request).toList(),
                vague && !calls.isEmpty() ? FinishReason.TOOL_CALLS : finishReason,
                usage(),
                model,
                nextRequestIn,
                calls.isEmpty() ? null : question.continuation(again));
    }

    private void failIfRefused(ProviderFailures failures) throws ModelCallException {
        if (!refusal.isEmpty()) {
            throw failures.refusal(refusal);
        }
        if (filtered != null) {
            throw failures.filtered(filtered);
        }
    }

    private ToolCallRequest request(Call call) {
        String id =
                call.id.isBlank() ? ToolCallRequest.derivedId(question.request().callId(), call.position) : call.id;
        String arguments = call.arguments.toString();
        if (arguments.isBlank()) {
            return new ToolCallRequest(id, call.name, Map.of()); // how some servers say "no arguments"
        }
        try {
            Map<String, @Nullable Object> parsed = WireJson.MAPPER.readValue(arguments, OBJECT);
            if (parsed != null) {
                return new ToolCallRequest(id, call.name, parsed);
            }
        } catch (JsonProcessingException e) {
            // falls through: the model is told, and corrects itself
        }
        return new ToolCallRequest(id, call.name, Map.of(), arguments);
    }

    private Usage usage() {
        return new Usage(input, output, Math.min(cached, input), Math.min(cacheWrites, input), reasoningTokens, null);
    }

    /** A failure with what the provider counts for it nevertheless, if it said so. */
    ModelCallException charged(ModelCallException failure) {
        return usage().isNone() ? failure : failure.charged(new ModelCharge(model, usage()));
    }
}
