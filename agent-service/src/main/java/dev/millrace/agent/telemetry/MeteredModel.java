package dev.millrace.agent.telemetry;

import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.StreamListener;
import dev.millrace.telemetry.ModelCallMeter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A model whose requests are counted and timed, each attempt for itself. */
public final class MeteredModel implements LanguageModel {

    private final LanguageModel model;
    private final ModelCallMeter meter;

    /** Counts what is asked of this model. */
    public MeteredModel(LanguageModel model, ModelCallMeter meter) {
        this.model = model;
        this.meter = meter;
    }

    /** One request. */
    private interface Asking {
        ModelReply ask() throws ModelCallException;
    }

    /** When the first piece came; of the thread that makes the call. */
    private static final class FirstChunk {
        final long startedAt = System.nanoTime();

        @Nullable
        Duration after;

        void seen() {
            if (after == null) {
                after = Duration.ofNanos(System.nanoTime() - startedAt);
            }
        }
    }

    @Override
    public ModelReply chat(ModelRequest request) throws ModelCallException {
        return metered(request, new FirstChunk(), () -> model.chat(request));
    }

    @Override
    public ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
        FirstChunk first = new FirstChunk();
        return metered(
                request,
                first,
                () -> model.stream(request, delta -> {
                    first.seen();
                    listener.onDelta(delta);
                }));
    }

    private ModelReply metered(ModelRequest request, FirstChunk first, Asking asking) throws ModelCallException {
        meter.began();
        ModelReply reply = null;
        String error = ModelErrorCode.INTERNAL_ERROR.wireName(); // stands if an Error or a defect ends it
        try {
            reply = asking.ask();
            error = null;
            return reply;
        } catch (ModelCallException e) {
            error = e.code().wireName();
            throw e;
        } finally {
            meter.ended(new ModelCallMeter.Request(
                    model.providerOf(request.model()),
                    request.model() == null ? model.name() : request.model(),
                    reply == null ? null : reply.model(),
                    error,
                    Duration.ofNanos(System.nanoTime() - first.startedAt),
                    first.after,
                    reply == null ? 0 : reply.usage().inputTokens(),
                    reply == null ? 0 : reply.usage().outputTokens()));
        }
    }

    @Override
    public String name() {
        return model.name();
    }

    @Override
    public String description() {
        return model.description();
    }

    @Override
    public @Nullable String fallbackFor(@Nullable String name) {
        return model.fallbackFor(name);
    }

    @Override
    public @Nullable String keyFor(@Nullable String name) {
        return model.keyFor(name);
    }

    @Override
    public int contextWindow(@Nullable String name) {
        return model.contextWindow(name);
    }

    @Override
    public String providerOf(@Nullable String name) {
        return model.providerOf(name);
    }
}
