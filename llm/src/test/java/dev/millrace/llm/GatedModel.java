package dev.millrace.llm;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;

/** A model that answers when the test lets it, and tells which calls have reached it. */
final class GatedModel implements LanguageModel {

    final BlockingQueue<String> started = new LinkedBlockingQueue<>();
    final Semaphore gate = new Semaphore(0);

    static ModelReply reply(String text) {
        return new ModelReply(text, null, List.of(), FinishReason.STOP, new ModelReply.Usage(1, 1), "gated");
    }

    @Override
    public ModelReply chat(ModelRequest request) throws ModelCallException {
        started.add(request.callId());
        try {
            gate.acquire();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted");
        }
        return reply(request.callId());
    }

    @Override
    public String name() {
        return "gated";
    }

    @Override
    public String description() {
        return "a model behind a gate";
    }
}
