package dev.millrace.agent.kafka;

import dev.millrace.agent.thinker.LiveText;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts live text on its topic: in order, soon or never. It has a producer of its own, so that it is in nobody's way.
 * For one thread; the counts for any.
 */
public final class TokenProducer implements LiveText.Sink, AutoCloseable {

    /** Nobody sees so little, and what many calls have to say goes in one request. */
    private static final int LINGER_MS = 5;

    /** Live text that is older than this is of no use to anybody. */
    private static final int DELIVERY_MS = 10_000;
    /** How long a broker that is away may hold up what comes next. */
    private static final int BLOCK_MS = 500;

    private static final Logger LOGGER = LoggerFactory.getLogger(TokenProducer.class);
    private static final long BUFFER_BYTES = 16L * 1024 * 1024;
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(2);

    private final KafkaProducer<String, byte[]> producer;
    private final String topic;
    private final LongAdder sent = new LongAdder();
    private final LongAdder lost = new LongAdder();
    /** How often it was to be flushed since that was last begun, and that time; 0 = nobody flushes. */
    private final AtomicInteger flushes = new AtomicInteger();

    /** Connects when it is used. */
    public TokenProducer(ClientSettings kafka, Topics topics) {
        ClientSettings config = kafka.prompt("millrace-agent-tokens")
                .with(ProducerConfig.LINGER_MS_CONFIG, LINGER_MS)
                .with(ProducerConfig.MAX_BLOCK_MS_CONFIG, BLOCK_MS)
                .with(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, DELIVERY_MS / 2)
                .with(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, DELIVERY_MS)
                .with(ProducerConfig.BUFFER_MEMORY_CONFIG, BUFFER_BYTES);
        this.producer = new KafkaProducer<>(config.values(), new StringSerializer(), new ByteArraySerializer());
        this.topic = topics.tokens();
    }

    /** Waits half a second at most if the brokers are away. What cannot be stored is counted as lost. */
    @Override
    public void take(Event event) {
        try {
            Future<RecordMetadata> unused = producer.send(
                    EventCodec.toRecord(topic, event),
                    (stored, failure) -> (failure == null ? sent : lost).increment());
        } catch (KafkaException e) {
            lost.increment();
        }
    }

    /** Does not wait: a broker that does not answer would hold up what goes to others. */
    @Override
    public void flush() {
        if (flushes.getAndIncrement() == 0) {
            Thread.ofVirtual().name("live-text-flush").start(this::flushAll);
        }
    }

    private void flushAll() {
        for (int asked = flushes.get(); asked > 0; asked = flushes.addAndGet(-asked)) {
            try {
                producer.flush();
            } catch (RuntimeException e) {
                LOGGER.debug("Live text was not sent at once", e);
            }
        }
    }

    /** What the brokers have stored, since the start. */
    public long sent() {
        return sent.sum();
    }

    /** What was lost, since the start. */
    public long lost() {
        return lost.sum();
    }

    @Override
    public void close() {
        producer.close(CLOSE_LIMIT);
    }
}
