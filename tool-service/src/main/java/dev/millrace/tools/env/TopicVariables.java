package dev.millrace.tools.env;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.kafka.AcknowledgedProducer;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicFollower;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Topics;
import dev.millrace.tool.api.ToolException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Variables on the topic {@code variables}, a record for each time that one is set. Whoever asks waits until everything
 * is known that was on the topic before, so that every instance knows what any has set; it is kept in memory, for a
 * week.
 */
public final class TopicVariables implements Variables, AutoCloseable {

    /** How long a variable is kept after it was last set; that of the topic. */
    static final Duration RETENTION = Duration.ofDays(7);

    private static final Duration READ_LIMIT = Duration.ofSeconds(15);
    private static final Duration WRITE_LIMIT = Duration.ofSeconds(20);
    private static final String CLIENT = "millrace-tools";
    private static final String UNAVAILABLE = "env_unavailable";

    private final TopicPartition partition;
    private final TopicFollower follower;
    private final AcknowledgedProducer producer;
    private final Clock clock;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock, like the next. */
    private final KnownVariables known;

    private long nextSweepMs;

    /**
     * A record's value: that a variable is set, or, as the task machine writes it, that what was set is forgotten.
     *
     * @param kind {@code null} = all conversations of the namespace are forgotten
     * @param id the same
     * @param forgottenAt what was set up to this moment is forgotten, in Unix milliseconds; {@code null} = a variable
     *     is set
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Setting(
            @JsonProperty("namespace") String namespace,
            @JsonProperty("kind") @Nullable String kind,
            @JsonProperty("id") @Nullable String id,
            @JsonProperty("key") @Nullable String key,
            @JsonProperty("value") @Nullable String value,
            @JsonProperty("forgottenAt") @Nullable Long forgottenAt) {}

    /**
     * Variables on the topic of this installation; connects when it is first used.
     *
     * @param maxBytes of all together in memory; beyond it those are forgotten first whose tenant has most
     */
    public TopicVariables(ClientSettings kafka, Topics topics, Clock clock, long maxBytes) {
        this.known = new KnownVariables(maxBytes);
        // what anybody was told to be set has to be seen, also while the task machine writes; what is gone is too old
        // anyway
        ClientSettings reading = TopicLog.WHAT_IS_LEFT.with(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_uncommitted");
        TopicLog log = new TopicLog(kafka, topics.variables(), CLIENT, reading);
        this.partition = log.partition(0);
        this.follower = new TopicFollower(log, new Taker());
        this.producer = new AcknowledgedProducer(kafka.prompt(CLIENT + "-variables"), WRITE_LIMIT);
        this.clock = clock;
    }

    @Override
    public void set(Scope scope, String key, String value) throws ToolException, InterruptedException {
        Optional<String> refusal = read(() -> known.refusal(scope, key, value));
        if (refusal.isPresent()) {
            throw new ToolException("env_full", refusal.get());
        }
        Setting setting = new Setting(scope.namespace(), scope.kind(), scope.id(), key, value, null);
        try {
            producer.send(List.of(new ProducerRecord<>(
                    partition.topic(), partition.partition(), clock.millis(), scope.id(), Json.write(setting))));
        } catch (KafkaException e) {
            throw new ToolException(UNAVAILABLE, "The variable cannot be set now: " + e.getMessage());
        }
    }

    @Override
    public Optional<String> get(Scope scope, String key) throws ToolException, InterruptedException {
        return read(() -> known.get(scope, key));
    }

    private <T> T read(Supplier<T> question) throws ToolException, InterruptedException {
        try {
            follower.catchUp(System.nanoTime() + READ_LIMIT.toNanos());
        } catch (KafkaException e) {
            throw new ToolException(UNAVAILABLE, "Variables cannot be read now: " + e.getMessage());
        }
        lock.lock();
        try {
            forgetTheOld();
            return question.get();
        } finally {
            lock.unlock();
        }
    }

    private final class Taker implements TopicFollower.Taker {
        @Override
        public void take(ConsumerRecord<byte[], byte[]> taken) {
            Setting setting = setting(taken.value());
            if (setting != null) {
                lock.lock();
                try {
                    apply(setting, taken.timestamp());
                } finally {
                    lock.unlock();
                }
            }
        }

        @Override
        public void beginAnew() {
            lock.lock();
            try {
                known.forget(scope -> true, Long.MAX_VALUE);
            } finally {
                lock.unlock();
            }
        }
    }

    private void apply(Setting setting, long setAtMs) {
        if (setting.forgottenAt() != null) {
            known.forget(
                    scope -> scope.namespace().equals(setting.namespace())
                            && (setting.kind() == null || scope.kind().equals(setting.kind()))
                            && (setting.id() == null || scope.id().equals(setting.id())),
                    setting.forgottenAt());
        } else if (setting.kind() != null && setting.id() != null && setting.key() != null && setting.value() != null) {
            known.put(
                    new Scope(setting.namespace(), setting.kind(), setting.id()),
                    setting.key(),
                    setting.value(),
                    setAtMs);
        }
    }

    /** What the record says; {@code null} if it says nothing that can be understood, which is nobody else's loss. */
    private static @Nullable Setting setting(byte @Nullable [] value) {
        try {
            return value == null ? null : Json.MAPPER.readValue(value, Setting.class);
        } catch (IOException e) {
            return null;
        }
    }

    private void forgetTheOld() {
        long nowMs = clock.millis();
        if (nowMs >= nextSweepMs) {
            known.forget(scope -> true, nowMs - RETENTION.toMillis() - 1);
            nextSweepMs = nowMs + Duration.ofMinutes(1).toMillis();
        }
    }

    /** Why the topic is not read now, for people; empty = it is, or nobody has asked. */
    public Optional<String> problem() {
        return follower.loop().problem();
    }

    @Override
    public void close() {
        follower.close();
        producer.close();
    }
}
