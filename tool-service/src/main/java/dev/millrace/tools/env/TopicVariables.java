package dev.millrace.tools.env;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Topics;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.kafka.TopicClients;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Variables on the topic {@code variables}, a record for each time that one is set. Whoever asks first reads up to the end
 * of the topic, so that every instance knows what any has set; what was read once is kept in memory, for a week.
 */
public final class TopicVariables implements Variables, AutoCloseable {

    /** How long a variable is kept after it was last set; that of the topic. */
    static final Duration RETENTION = Duration.ofDays(7);

    private static final Duration POLL = Duration.ofMillis(500);
    private static final int RECORDS_AT_ONCE = 1_000;
    private static final String UNAVAILABLE = "env_unavailable";

    private final TopicClients clients;
    private final TopicPartition partition;
    private final Clock clock;
    // touched only while the consumer is held
    private final KnownVariables known;
    private long nextSweepMs;

    /**
     * A record's value: that a variable is set, or, as the task machine writes it, that what was set is forgotten.
     *
     * @param kind {@code null} = all conversations of the namespace are forgotten
     * @param id the same
     * @param forgottenAt what was set up to this moment is forgotten, in Unix milliseconds; {@code null} = a variable is set
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
    public TopicVariables(Map<String, Object> kafka, Topics topics, Clock clock, long maxBytes) {
        this.known = new KnownVariables(maxBytes);
        this.clients = new TopicClients(
                kafka, RECORDS_AT_ONCE, topics.variables(), () -> known.forget(scope -> true, Long.MAX_VALUE));
        this.partition = new TopicPartition(topics.variables(), 0);
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
            clients.producer()
                    .send(new ProducerRecord<>(
                            partition.topic(), partition.partition(), clock.millis(), scope.id(), Json.write(setting)))
                    .get();
        } catch (ExecutionException e) {
            throw new ToolException(UNAVAILABLE, "The variable cannot be set now: " + e.getCause());
        } catch (InterruptException e) {
            throw TopicClients.interrupted(e);
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
            return clients.read(in -> {
                readUpToTheEnd(in);
                forgetTheOld();
                return question.get();
            });
        } catch (KafkaException e) {
            throw new ToolException(UNAVAILABLE, "Variables cannot be read now: " + e.getMessage());
        }
    }

    private void readUpToTheEnd(KafkaConsumer<String, byte[]> in) {
        if (in.assignment().isEmpty()) {
            // a new consumer: what is known may be read once more, which changes nothing
            in.assign(List.of(partition));
            in.seekToBeginning(List.of(partition));
        }
        long end = in.endOffsets(List.of(partition), TopicClients.READ_LIMIT).getOrDefault(partition, 0L);
        long deadline = System.nanoTime() + TopicClients.READ_LIMIT.toNanos();
        while (in.position(partition, TopicClients.READ_LIMIT) < end) {
            if (System.nanoTime() - deadline >= 0) {
                throw new KafkaException("not read to the end within " + TopicClients.READ_LIMIT.toSeconds() + " s");
            }
            try {
                in.poll(POLL).forEach(this::take);
            } catch (OffsetOutOfRangeException e) {
                // nobody has asked for longer than the retention, and what is gone is too old anyway
                in.seekToBeginning(List.of(partition));
            }
        }
    }

    private void take(ConsumerRecord<String, byte[]> found) {
        Setting setting = setting(found.value());
        if (setting == null) {
            return;
        }
        if (setting.forgottenAt() != null) {
            forget(setting, setting.forgottenAt());
        } else if (setting.kind() != null && setting.id() != null && setting.key() != null && setting.value() != null) {
            known.put(
                    new Scope(setting.namespace(), setting.kind(), setting.id()),
                    setting.key(),
                    setting.value(),
                    found.timestamp());
        }
    }

    private void forget(Setting forgotten, long atMs) {
        known.forget(
                scope -> scope.namespace().equals(forgotten.namespace())
                        && (forgotten.kind() == null || scope.kind().equals(forgotten.kind()))
                        && (forgotten.id() == null || scope.id().equals(forgotten.id())),
                atMs);
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

    @Override
    public void close() {
        clients.close();
    }
}
