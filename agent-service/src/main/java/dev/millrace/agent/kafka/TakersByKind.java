package dev.millrace.agent.kafka;

import dev.millrace.agent.DefinitionTaker;
import dev.millrace.kafka.TopicFollower;
import dev.millrace.schemas.MalformedEventException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Gives what is on a compacted topic, that of definitions or that of memory, to whoever takes its kind, which is what a
 * key has before its first slash; other kinds are passed over. For the thread that reads.
 */
final class TakersByKind implements TopicFollower.Taker {

    private static final Duration LOOK_AGAIN = Duration.ofSeconds(3);

    private final Function<String, @Nullable DefinitionTaker> takers;
    private final Collection<DefinitionTaker> watchers;
    private final Runnable begin;
    private final Runnable done;
    private long lookedAt = System.nanoTime();
    private boolean begunAnew;

    /**
     * Has taken nothing.
     *
     * @param takers who takes a kind; {@code null} = nobody does
     * @param watchers have to look again from time to time
     * @param begin run when what was taken so far is void, since the topic is another one of the same name
     * @param done run when what is on that one has been taken
     */
    TakersByKind(
            Function<String, @Nullable DefinitionTaker> takers,
            Collection<DefinitionTaker> watchers,
            Runnable begin,
            Runnable done) {
        this.takers = takers;
        this.watchers = watchers;
        this.begin = begin;
        this.done = done;
    }

    @Override
    public void take(ConsumerRecord<byte[], byte[]> taken) throws MalformedEventException {
        String key = taken.key() == null ? "" : new String(taken.key(), StandardCharsets.UTF_8);
        int slash = key.indexOf('/');
        DefinitionTaker taker = slash < 0 ? null : takers.apply(key.substring(0, slash));
        if (taker != null) {
            taker.take(key.substring(slash + 1), taken.value());
        }
    }

    @Override
    public void beginAnew() {
        begunAnew = true;
        begin.run();
    }

    @Override
    public void looked(boolean caughtUp) {
        if (System.nanoTime() - lookedAt > LOOK_AGAIN.toNanos()) {
            watchers.forEach(DefinitionTaker::lookAgain);
            lookedAt = System.nanoTime();
        }
        if (begunAnew && caughtUp) {
            begunAnew = false;
            done.run();
        }
    }
}
