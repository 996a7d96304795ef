package dev.millrace.engine;

import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Ids;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The model calls that are out, in a store: what was asked for and not answered when an instance went away is asked for
 * again by the next one. But an answer may be on its topic already, and a completed call is never repeated: so first
 * everything that is there then must have been read (ADR 0004). For one stream thread.
 *
 * @param <C> a call
 */
public final class OutstandingCalls<C> implements AutoCloseable {

    private final KeyValueStore<String, C> store;
    private final Function<C, String> key;
    private final ModelCalls<C> modelCalls;
    private final int partition;
    private final UnaryOperator<C> takenOver;
    private final Consumer<Runnable> whenKept;
    private @Nullable Fence fence;

    /**
     * Stands on the topic of the replies behind everything that was there at the start.
     *
     * @param calls keys of what was out at the start. What was asked for since then is not among them: it is being
     *     made, or its reply stands behind the fence
     */
    private record Fence(String value, Set<String> calls) {}

    /**
     * The calls of one partition.
     *
     * @param key the key of a call in the store
     * @param takenOver a call in the hands of another instance than before
     * @param whenKept runs what others are told, as soon as what is being done with the store is kept: {@link
     *     UnitOfWork#whenKept}
     */
    public OutstandingCalls(
            KeyValueStore<String, C> store,
            Function<C, String> key,
            ModelCalls<C> modelCalls,
            int partition,
            UnaryOperator<C> takenOver,
            Consumer<Runnable> whenKept) {
        this.store = store;
        this.key = key;
        this.modelCalls = modelCalls;
        this.partition = partition;
        this.takenOver = takenOver;
        this.whenKept = whenKept;
    }

    /**
     * After a start or a rebalance, before any record is taken: has a fence set if there are calls that may be to
     * repeat.
     */
    public void fenceOff() {
        Set<String> calls = new LinkedHashSet<>();
        try (KeyValueIterator<String, C> outstanding = store.all()) {
            outstanding.forEachRemaining(entry -> calls.add(entry.key));
        }
        if (!calls.isEmpty()) {
            Fence set = new Fence(Ids.random(), calls);
            modelCalls.fence(partition, set.value());
            fence = set;
        }
    }

    /** Whether a record is a fence, which {@link #passFence} takes. */
    public static boolean isFence(Headers headers, byte @Nullable [] value) {
        return value == null && headers.lastHeader(HeaderNames.FENCE) != null;
    }

    /** Takes a fence: if it is ours, every call that was out at the start and still is, is made again. */
    public void passFence(Headers headers) {
        Header mark = headers.lastHeader(HeaderNames.FENCE);
        Fence expected = fence;
        if (mark != null
                && expected != null
                && new String(mark.value(), StandardCharsets.UTF_8).equals(expected.value())) {
            fence = null;
            for (String call : expected.calls()) {
                C outstanding = store.get(call);
                if (outstanding != null) {
                    repeat(outstanding);
                }
            }
        }
    }

    private void repeat(C outstanding) {
        C call = takenOver.apply(outstanding);
        if (modelCalls.requestAgain(partition, call)) {
            store.put(key.apply(call), call);
        }
    }

    /**
     * Has a call made. The reply of a call that the committed state does not know is stale, so it need not wait for the
     * commit.
     */
    public void request(C call) {
        store.put(key.apply(call), call);
        whenKept.accept(() -> modelCalls.request(partition, call));
    }

    /** Whether somebody waits for this call. */
    public boolean isOut(String callKey) {
        return store.get(callKey) != null;
    }

    /** See {@link ModelCalls#saidSoFar}; {@code null} also if nobody waits for this call. */
    public @Nullable String saidSoFar(String callKey) {
        C call = store.get(callKey);
        return call == null ? null : modelCalls.saidSoFar(call);
    }

    /** The partition is given up. */
    @Override
    public void close() {
        modelCalls.leave(partition);
    }

    /** Nobody waits for this call any more. */
    public void settle(String callKey) {
        C call = store.delete(callKey);
        if (call != null) {
            whenKept.accept(() -> modelCalls.settle(call));
        }
    }
}
