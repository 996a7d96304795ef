package dev.millrace.agent.kafka;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.RecordLoop;
import dev.millrace.kafka.TopicLog;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.RateLimiter;
import dev.millrace.llm.rates.RateLimit;
import dev.millrace.llm.rates.RateWindow;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limits of providers' keys, kept by all instances together through the {@code rates} topic (ADR 0013). Who wants
 * to send a request puts a claim on the topic and reads it back: its place among the claims of all decides, by the
 * broker's clock, and every instance sees the same. Who is refused releases its claim, and so does who came too late to
 * use it.
 *
 * <p>There is nobody in charge and nobody is counted, so an instance that joins, dies or hangs changes nothing; what a
 * dead one had claimed counts until the window has passed.
 */
public final class SharedRates implements RateLimiter, AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(SharedRates.class);
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
    /** How far the clocks of instances and brokers may be apart; only for finding the place from which to read. */
    private static final Duration CLOCK_SKEW = Duration.ofMinutes(5);
    /** So that those who were refused in the same moment do not ask in a busy loop. */
    private static final Duration SHORTEST_WAIT = Duration.ofMillis(5);

    private final Map<String, RateLimit> limits;
    private final String topic;
    private final String instance = Ids.random();
    private final AtomicLong claims = new AtomicLong();
    private final ConcurrentHashMap<String, Pending> pending = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Usage> usage; // guarded by lock
    private final @Nullable Clients clients;
    private boolean warned; // of the reader's thread

    private record Clients(KafkaProducer<String, byte[]> producer, RecordLoop reader) {}

    /** A claim of this instance that has not been decided. */
    private record Pending(String key, long tokens, long askedAtNanos, CompletableFuture<Answer> answer) {}

    /** What is on the topic; {@code tokens} counts for claim and settle. */
    record Entry(Op op, String claim, long tokens) {

        enum Op {
            CLAIM,
            RELEASE,
            SETTLE
        }

        /** The most tokens that a claim can be for: more than any limit counts. */
        static final long MAX_TOKENS = 1_000_000_000_000L;

        private static final int MAX_CLAIM_CHARS = 200;

        /** Reads what an instance wrote, or whatever else is there. */
        static Entry of(byte[] json) throws MalformedEventException {
            JsonObject fields = Json.readObject(json);
            if (!(fields.get("op") instanceof String op)
                    || !(fields.get("claim") instanceof String claim)
                    || !(fields.get("tokens") instanceof Integer || fields.get("tokens") instanceof Long)
                    || claim.isEmpty()
                    || claim.length() > MAX_CLAIM_CHARS) {
                throw none("op, claim and tokens, found " + fields.keySet());
            }
            long tokens = ((Number) fields.get("tokens")).longValue();
            if (tokens < 0 || tokens > MAX_TOKENS) {
                throw none("0 to " + MAX_TOKENS + " tokens, found " + tokens);
            }
            return switch (op) {
                case "CLAIM" -> new Entry(Op.CLAIM, claim, tokens);
                case "RELEASE" -> new Entry(Op.RELEASE, claim, tokens);
                case "SETTLE" -> new Entry(Op.SETTLE, claim, tokens);
                default -> throw none("op to be CLAIM, RELEASE or SETTLE");
            };
        }

        private static MalformedEventException none(String problem) {
            return new MalformedEventException("bad_payload", "a claim on a provider's rate: expected " + problem);
        }
    }

    private static final class Usage {
        final RateWindow window;
        long granted;
        long refused;
        long brokerMs = Long.MIN_VALUE;
        long readAtNanos;

        Usage(RateLimit limit) {
            this.window = new RateWindow(limit);
        }

        /** What the broker's clock shows at least. */
        long nowMs() {
            return brokerMs == Long.MIN_VALUE
                    ? brokerMs
                    : brokerMs + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - readAtNanos);
        }
    }

    /**
     * What counts against a limit now.
     *
     * @param granted claims of this instance that were granted since the start
     * @param refused those that were not
     */
    public record Used(int requests, long tokens, long granted, long refused) {}

    /**
     * Connects only if there is a limit.
     *
     * @param kafka the connection's settings, such as {@code bootstrap.servers}
     */
    public SharedRates(ClientSettings kafka, String topic, Map<String, RateLimit> keys) {
        this.limits = keys.entrySet().stream()
                .filter(key -> key.getValue().limits())
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
        this.topic = topic;
        this.usage = limits.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, limit -> new Usage(limit.getValue())));
        this.clients = limits.isEmpty() ? null : connect(kafka);
    }

    private Clients connect(ClientSettings kafka) {
        ClientSettings writing = kafka.prompt("millrace-agent-rates");
        TopicLog log = new TopicLog(kafka, topic, "millrace-agent");
        return new Clients(
                new KafkaProducer<>(writing.values(), new StringSerializer(), new ByteArraySerializer()),
                new RecordLoop("rates", () -> log.open("rates"), log.identity(), new Work(log)));
    }

    /** Begins to read, on a thread of its own. Once. */
    public void start() {
        if (clients != null) {
            clients.reader().start();
        }
    }

    /** What reads; empty if nothing is limited. */
    public Optional<RecordLoop> reader() {
        return Optional.ofNullable(clients).map(Clients::reader);
    }

    /** The keys that are limited. */
    public Set<String> keys() {
        return limits.keySet();
    }

    /** What counts against the limit of a key, as far as this instance has read. */
    public Used used(String key) {
        lock.lock();
        try {
            Usage used = usageOf(key);
            long now = used.nowMs();
            return new Used(used.window.requests(now), used.window.tokens(now), used.granted, used.refused);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean limits(String key) {
        return limits.containsKey(key);
    }

    @Override
    public Answer ask(String key, long tokens) throws ModelCallException, InterruptedException {
        limitOf(key).check(tokens);
        String claim = instance + '-' + claims.incrementAndGet();
        Pending asked = new Pending(key, tokens, System.nanoTime(), new CompletableFuture<>());
        pending.put(claim, asked);
        try {
            send(key, new Entry(Entry.Op.CLAIM, claim, tokens));
            return asked.answer().get();
        } catch (InterruptException e) {
            Thread.interrupted(); // Kafka's own exception leaves the flag, ours does not
            giveUp(claim, asked);
            throw new InterruptedException("interrupted while asking for the rate of " + key);
        } catch (InterruptedException e) {
            giveUp(claim, asked);
            throw e;
        } catch (ExecutionException e) {
            throw new IllegalStateException("an answer is never a failure", e);
        }
    }

    /** Nobody waits for it any more: it is released as soon as it is read, or now if it was granted a moment ago. */
    private void giveUp(String claim, Pending asked) {
        if (!pending.remove(claim, asked)) {
            var unused = asked.answer().thenAccept(answer -> {
                if (answer instanceof Granted granted) {
                    release(granted);
                }
            });
        }
    }

    @Override
    public void settle(Granted granted, long tokens) {
        if (tokens != granted.tokens() && limitOf(granted.key()).maxTokens() != null) {
            send(granted.key(), new Entry(Entry.Op.SETTLE, granted.claim(), tokens));
        }
    }

    @Override
    public void release(Granted granted) {
        send(granted.key(), new Entry(Entry.Op.RELEASE, granted.claim(), 0));
    }

    private void send(String key, Entry entry) {
        byte[] json;
        try {
            json = Json.MAPPER.writeValueAsBytes(entry);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (clients == null) {
            throw new IllegalStateException("no key is limited");
        }
        var unused = clients.producer().send(new ProducerRecord<>(topic, key, json), (metadata, failure) -> {
            if (failure != null) {
                LOGGER.atWarn()
                        .addKeyValue("topic", topic)
                        .addKeyValue("key", key)
                        .addKeyValue("cause", failure.toString())
                        .log("A claim on a provider's rate could not be written");
                Pending asked = pending.remove(entry.claim());
                if (asked != null) {
                    // it may be on the topic still, and then counts; asking again is always right
                    asked.answer().complete(new Refused(PAUSE_AFTER_FAILURE));
                }
            }
        });
    }

    private final class Work implements RecordLoop.Work {
        private final TopicLog log;

        Work(TopicLog log) {
            this.log = log;
        }

        /** Goes to the first record that can count still. */
        @Override
        public void begin(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> reached) {
            List<TopicPartition> partitions = RecordLoop.wholeTopic(consumer, log, reached);
            long from = Clock.systemUTC().millis()
                    - RateLimit.LONGEST_WINDOW.multipliedBy(2).toMillis()
                    - CLOCK_SKEW.toMillis();
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            Map<TopicPartition, OffsetAndTimestamp> starts = consumer.offsetsForTimes(
                    partitions.stream().collect(Collectors.toMap(partition -> partition, partition -> from)));
            for (TopicPartition partition : partitions) {
                if (!reached.containsKey(partition)) {
                    OffsetAndTimestamp start = starts.get(partition);
                    consumer.seek(partition, start == null ? ends.getOrDefault(partition, 0L) : start.offset());
                }
            }
        }

        /**
         * What was granted counts until it is too old: providers know nothing of topics. What was asked for was lost
         * with them.
         */
        @Override
        public void beginAnew() {
            Set.copyOf(pending.keySet()).forEach(claim -> {
                Pending asked = pending.remove(claim);
                if (asked != null) {
                    asked.answer().complete(new Refused(PAUSE_AFTER_FAILURE));
                }
            });
        }

        @Override
        public void take(ConsumerRecord<byte[], byte[]> taken) throws MalformedEventException {
            String key = taken.key() == null ? "" : new String(taken.key(), StandardCharsets.UTF_8);
            if (taken.value() != null && limits.containsKey(key)) {
                SharedRates.this.take(key, Entry.of(taken.value()), taken);
            }
        }
    }

    private void take(String key, Entry entry, ConsumerRecord<byte[], byte[]> taken) {
        if (taken.timestampType() != TimestampType.LOG_APPEND_TIME && !warned) {
            warned = true;
            LOGGER.atWarn()
                    .addKeyValue("topic", topic)
                    .log("This topic is not dated by its broker: limits are as exact as the clocks of the instances are"
                            + " equal; set message.timestamp.type=LogAppendTime");
        }
        lock.lock();
        try {
            Usage used = usageOf(key);
            used.brokerMs = Math.max(used.brokerMs, taken.timestamp());
            used.readAtNanos = System.nanoTime();
            switch (entry.op()) {
                case CLAIM -> claimed(key, used, entry, taken.timestamp());
                case RELEASE -> released(used, entry, taken.timestamp());
                case SETTLE -> used.window.settle(entry.claim(), entry.tokens(), taken.timestamp());
            }
        } finally {
            lock.unlock();
        }
    }

    private void claimed(String key, Usage used, Entry entry, long atMs) {
        boolean fits = used.window.claim(entry.claim(), entry.tokens(), atMs);
        if (!entry.claim().startsWith(instance)) {
            return;
        }
        Pending asked = pending.get(entry.claim());
        if (asked != null && fits && isFresh(key, asked) && pending.remove(entry.claim(), asked)) {
            used.granted++;
            asked.answer().complete(new Granted(key, entry.claim(), entry.tokens()));
            return;
        }
        used.refused++;
        send(key, new Entry(Entry.Op.RELEASE, entry.claim(), 0));
    }

    /** Half of the margin is for the way from here to the provider. */
    private boolean isFresh(String key, Pending asked) {
        return System.nanoTime() - asked.askedAtNanos() <= limitOf(key).margin().toNanos() / 2;
    }

    private void released(Usage used, Entry entry, long atMs) {
        used.window.release(entry.claim(), atMs);
        Pending asked = pending.remove(entry.claim());
        if (asked != null) {
            Duration roomIn = used.window.untilRoomFor(asked.tokens());
            asked.answer().complete(new Refused(roomIn.compareTo(SHORTEST_WAIT) < 0 ? SHORTEST_WAIT : roomIn));
        }
    }

    private RateLimit limitOf(String key) {
        RateLimit limit = limits.get(key);
        if (limit == null) {
            throw new IllegalArgumentException("the key " + key + " is not limited");
        }
        return limit;
    }

    private Usage usageOf(String key) {
        Usage used = usage.get(key);
        if (used == null) {
            throw new IllegalArgumentException("the key " + key + " is not limited");
        }
        return used;
    }

    /** Stops; what was asked and not yet answered stays without an answer. */
    @Override
    public void close() {
        if (clients != null) {
            clients.reader().close();
            clients.producer().close(Duration.ofSeconds(2));
        }
    }
}
