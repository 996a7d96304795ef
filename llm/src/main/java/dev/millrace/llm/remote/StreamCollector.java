package dev.millrace.llm.remote;

import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.PartialToolCall;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.StreamListener;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Hands LangChain4j's partial replies to our listener, on the thread of the call. LangChain4j swallows what a handler
 * throws, so what the listener throws is caught here and ends the exchange.
 */
final class StreamCollector implements StreamingChatResponseHandler {

    private final Exchange exchange;
    private final StreamListener listener;
    private final Set<Integer> begunCalls = new HashSet<>();

    private @Nullable ChatResponse response;
    private @Nullable Throwable error;

    StreamCollector(Exchange exchange, StreamListener listener) {
        this.exchange = exchange;
        this.listener = listener;
    }

    /** The whole reply; null if the stream did not come so far. */
    @Nullable
    ChatResponse response() {
        return response;
    }

    /** The first thing that went wrong; null if nothing did. */
    @Nullable
    Throwable error() {
        return error;
    }

    @Override
    public void onPartialResponse(String text) {
        if (text != null && !text.isEmpty()) {
            deliver(new ModelDelta.Text(text));
        }
    }

    @Override
    public void onPartialThinking(PartialThinking thinking) {
        if (thinking.text() != null && !thinking.text().isEmpty()) {
            deliver(new ModelDelta.Reasoning(thinking.text()));
        }
    }

    @Override
    public void onPartialToolCall(PartialToolCall call) {
        begunCalls.add(call.index());
        String arguments = call.partialArguments();
        deliver(new ModelDelta.ToolCall(call.index(), call.id(), call.name(), arguments == null ? "" : arguments));
    }

    /** Some calls come in one piece, and then only here. */
    @Override
    public void onCompleteToolCall(CompleteToolCall call) {
        if (begunCalls.add(call.index())) {
            var request = call.toolExecutionRequest();
            String arguments = request.arguments();
            deliver(new ModelDelta.ToolCall(
                    call.index(), request.id(), request.name(), arguments == null ? "" : arguments));
        }
    }

    @Override
    public void onCompleteResponse(ChatResponse whole) {
        response = whole;
    }

    @Override
    public void onError(Throwable thrown) {
        if (error == null) {
            error = thrown;
        }
    }

    private void deliver(ModelDelta delta) {
        if (exchange.failure() != null || Thread.currentThread().isInterrupted()) {
            return;
        }
        exchange.started();
        try {
            listener.onDelta(delta);
        } catch (RuntimeException e) {
            exchange.fail(ModelCallException.brokenListener(e));
        }
    }
}
