package dev.millrace.llm.scripted;

import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.StreamListener;
import dev.millrace.llm.ToolCallRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sends a reply piece by piece: the reasoning, the text, then the calls. */
final class ReplyStream {

    private final Chunking chunking;
    private final Pause pause;
    private final @Nullable StreamListener listener;

    /** How time passes between two pieces. */
    interface Pause {
        void pass(Duration pause) throws ModelCallException;
    }

    /** A stream to a listener; null = nobody listens, and only the time passes. */
    ReplyStream(Chunking chunking, Pause pause, @Nullable StreamListener listener) {
        this.chunking = chunking;
        this.pause = pause;
        this.listener = listener;
    }

    /** All of it. */
    void send(ModelReply reply) throws ModelCallException {
        List<ModelDelta> deltas = new ArrayList<>(words(reply));
        for (int i = 0; i < reply.toolCalls().size(); i++) {
            ToolCallRequest call = reply.toolCalls().get(i);
            String id = call.toolCallId();
            boolean first = true;
            for (String piece : chunking.pieces(call.writtenArguments())) {
                deltas.add(new ModelDelta.ToolCall(i, first ? id : null, first ? call.toolName() : null, piece));
                first = false;
            }
        }
        send(deltas);
    }

    /** The reasoning and so much of the text, and then no more. */
    void begin(ModelReply reply, long chars) throws ModelCallException {
        String text = reply.text() == null ? "" : reply.text();
        String beginning = text.substring(0, (int) Math.min(chars, text.length()));
        send(words(new ModelReply(
                beginning, reply.reasoning(), List.of(), reply.finishReason(), reply.usage(), reply.model())));
    }

    private List<ModelDelta> words(ModelReply reply) {
        List<ModelDelta> deltas = new ArrayList<>();
        chunking.pieces(reply.reasoning() == null ? "" : reply.reasoning())
                .forEach(piece -> deltas.add(new ModelDelta.Reasoning(piece)));
        chunking.pieces(reply.text() == null ? "" : reply.text())
                .forEach(piece -> deltas.add(new ModelDelta.Text(piece)));
        return deltas;
    }

    private void send(List<ModelDelta> deltas) throws ModelCallException {
        for (int i = 0; i < deltas.size(); i++) {
            if (i > 0) {
                pause.pass(chunking.pause());
            }
            if (listener != null) {
                deliver(listener, deltas.get(i));
            }
        }
    }

    private static void deliver(StreamListener listener, ModelDelta delta) throws ModelCallException {
        if (Thread.currentThread().isInterrupted()) {
            throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted while the scripted model was talking");
        }
        try {
            listener.onDelta(delta);
        } catch (RuntimeException e) {
            throw ModelCallException.brokenListener(e);
        }
    }
}
