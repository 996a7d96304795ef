package dev.millrace.agent.kafka;

import dev.millrace.agent.DefinitionTaker;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.kafka.RecordLoop;
import dev.millrace.schemas.kafka.TopicIdentity;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a compacted topic, that of definitions or that of memory, from its beginning and follows it, on a thread of its own, and gives each
 * definition to whoever takes its kind. A record that is no definition costs itself; a broker that goes away is waited for; a topic
 * that was deleted and made again is read anew.
 */
public final class DefinitionsReader implements AutoCloseable {

    private static final Duration LOOK_AGAIN = Duration.ofSeconds(3);

    private final Function<String, @Nullable DefinitionTaker> takers;
    private final List<DefinitionTaker> watchers;
    private final Anew anew;
    private final CountDownLatch caughtUp = new CountDownLatch(1);
    private final String topic;
    private final RecordLoop loop;

    /** Is told when the topic turns out to be another one of the same name. Called by the reader's thread. */
    public interface Anew {

        /** What was taken so far is void. */
        void begins();

        /** What is on the topic now has been taken. */
        default void isDone() {}
    }

    /**
     * A reader that has not started.
     *
     * @param kafka the connection's settings, such as {@code bootstrap.servers}
     * @param takers by kind, which is what a key has before its first slash; other kinds are passed over
     * @param whenDone run when the topic turned out to be another one and has been read
     */
    public DefinitionsReader(
            Map<String, Object> kafka, String topic, Map<String, DefinitionTaker> takers, Runnable whenDone) {
        this(kafka, topic, takers::get, List.copyOf(takers.values()), new Anew() {
            @Override
            public void begins() {
                takers.values().forEach(DefinitionTaker::beginAnew);
            }

            @Override
            public void isDone() {
                whenDone.run();
            }
        });
    }

    /**
     * A reader that has not started.
     *
     * @param takers who takes a kind; {@code null} = nobody does
     * @param anew is told that they have to begin anew
     */
    public DefinitionsReader(
            Map<String, Object> kafka, String topic, Function<String, @Nullable DefinitionTaker> takers, Anew anew) {
        this(kafka, topic, takers, List.of(), anew);
    }

    private DefinitionsReader(
            Map<String, Object> kafka,
            String topic,
            Function<String, @Nullable DefinitionTaker> takers,
            List<DefinitionTaker> watchers,
            Anew anew) {
        Map<String, Object> config = new HashMap<>(kafka);
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        // what a machine writes counts when its transaction does
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        config.put(ConsumerConfig.CLIENT_ID_CONFIG, "millrace-agent-" + topic);
        // what is not there any more has to be read anew from the beginning
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        this.topic = topic;
        this.takers = takers;
        this.watchers = watchers;
        this.anew = anew;
        this.loop = new RecordLoop(
                "read-" + topic,
                () -> new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer()),
                TopicIdentity.of(kafka, topic),
                new Work());
    }

    /** Starts the thread. Once. */
    public void start() {
        loop.start();
    }

    /** What reads. */
    public RecordLoop loop() {
        return loop;
    }

    /** Waits until what was on the topic at the start has been read; false if that takes longer. */
    public boolean awaitCaughtUp(Duration timeout) throws InterruptedException {
        return caughtUp.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        loop.close();
    }

    private final class Work implements RecordLoop.Work {
        private Map<TopicPartition, Long> goal = Map.of();
        private long lookedAt = System.nanoTime();
        private boolean begunAnew;

        @Override
        public void begin(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> reached) {
            goal = consumer.endOffsets(RecordLoop.wholeTopic(consumer, topic, reached));
        }

        @Override
        public void beginAnew() {
            begunAnew = true;
            anew.begins();
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
        public void looked(Consumer<byte[], byte[]> consumer, boolean foundAny) {
            if (System.nanoTime() - lookedAt > LOOK_AGAIN.toNanos()) {
                watchers.forEach(DefinitionTaker::lookAgain);
                lookedAt = System.nanoTime();
            }
            if ((caughtUp.getCount() > 0 || begunAnew)
                    && goal.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
                caughtUp.countDown();
                if (begunAnew) {
                    begunAnew = false;
                    anew.isDone();
                }
            }
        }
    }
}
