package dev.millrace.agent.kafka;

import dev.millrace.agent.Workers;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks, on a thread of its own, who works on the calls of each toolset that there are tools of, and how many calls
 * wait. The brokers are asked every {@link #SPACING}. A worker is a member of any group that reads the request topic;
 * one that reads it without a group is not seen. For any thread.
 */
public final class ToolsetWatch implements Workers, AutoCloseable {

    /** Between two looks. */
    static final Duration SPACING = Duration.ofSeconds(15);
    /**
     * The same where nobody was found for the first time: members are without partitions for a moment when they move.
     */
    static final Duration SPACING_IN_DOUBT = Duration.ofSeconds(3);
    /** What is older is not told any more. */
    static final Duration STALE = Duration.ofMinutes(1);
    /** So many toolsets are looked at, by name; anybody may publish a tool. */
    static final int MAX_TOOLSETS = 200;

    private static final Logger LOGGER = LoggerFactory.getLogger(ToolsetWatch.class);
    private static final int LOOKS = 2;
    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    private final Supplier<? extends Collection<String>> toolsets;
    private final Readers readers;
    private final Clock clock;
    private final Map<String, Seen> seen = new ConcurrentHashMap<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread =
            Thread.ofPlatform().name("toolset-watch").daemon().unstarted(this::run);
    private volatile Consumer<String> whenNew = toolset -> {};

    /** Asks who reads request topics. For one thread. */
    interface Readers extends AutoCloseable {

        /**
         * Who reads the request topics of these toolsets.
         *
         * @return by toolset; those are left out of which nothing could be found out
         * @throws KafkaException if the brokers do not answer
         */
        Map<String, Reading> ask(Set<String> toolsets) throws InterruptedException;

        @Override
        void close();
    }

    /**
     * Who reads a request topic.
     *
     * @param workers members of groups that have a part of it
     * @param backlog calls that nobody has finished; empty = not known
     */
    record Reading(int workers, OptionalLong backlog) {}

    private record Seen(
            Reading reading, Instant at, @Nullable Instant served, int looksWithout) {

        static Seen of(Reading reading, Instant at, @Nullable Seen before) {
            return reading.workers() > 0
                    ? new Seen(reading, at, at, 0)
                    : new Seen(
                            reading,
                            at,
                            before == null ? null : before.served,
                            before == null ? 1 : before.looksWithout + 1);
        }
    }

    /**
     * Has not begun.
     *
     * @param kafka the connection's settings, such as {@code bootstrap.servers}
     * @param toolsets those that there are tools of
     */
    public ToolsetWatch(ClientSettings kafka, Topics topics, Supplier<? extends Collection<String>> toolsets) {
        this(toolsets, new RequestReaders(kafka, topics), Clock.systemUTC());
    }

    ToolsetWatch(Supplier<? extends Collection<String>> toolsets, Readers readers, Clock clock) {
        this.toolsets = toolsets;
        this.readers = readers;
        this.clock = clock;
    }

    /** Begins to look. A second call does nothing. */
    public synchronized void start() {
        if (thread.getState() == Thread.State.NEW && closed.getCount() > 0) {
            thread.start();
        }
    }

    /**
     * From now on is told of each toolset that is looked at, at each look, by the thread that looks. Before the start.
     */
    public void whenNew(Consumer<String> listener) {
        whenNew = listener;
    }

    /** Calls of a toolset that nobody has finished; empty = not known. */
    public OptionalLong backlog(String toolset) {
        return fresh(toolset).map(now -> now.reading().backlog()).orElse(OptionalLong.empty());
    }

    /** How many workers a toolset has; empty = not known. */
    public OptionalLong workers(String toolset) {
        return fresh(toolset)
                .map(now -> OptionalLong.of(now.reading().workers()))
                .orElse(OptionalLong.empty());
    }

    @Override
    public Optional<Absence> absence(String toolset) {
        return fresh(toolset)
                .filter(now -> now.looksWithout() >= LOOKS)
                .map(now ->
                        new Absence(now.served() == null ? null : now.served().truncatedTo(ChronoUnit.SECONDS)));
    }

    private Optional<Seen> fresh(String toolset) {
        Seen found = seen.get(toolset);
        return found == null || !found.at().plus(STALE).isAfter(clock.instant())
                ? Optional.empty()
                : Optional.of(found);
    }

    private void run() {
        try {
            Duration pause = Duration.ZERO;
            while (!closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
                pause = lookSafely() ? SPACING_IN_DOUBT : SPACING;
            }
        } catch (InterruptedException e) {
            LOGGER.debug("Stopped");
        } finally {
            readers.close();
        }
    }

    private boolean lookSafely() throws InterruptedException {
        try {
            return look();
        } catch (KafkaException e) {
            LOGGER.atDebug().setCause(e).log("The brokers do not say who serves toolsets");
        } catch (RuntimeException e) {
            LOGGER.atError().setCause(e).log("A look at who serves toolsets broke");
        }
        return false;
    }

    /** One look; whether another one should come soon. */
    boolean look() throws InterruptedException {
        Set<String> wanted = toolsets.get().stream()
                .sorted()
                .distinct()
                .limit(MAX_TOOLSETS)
                .collect(Collectors.toCollection(TreeSet::new));
        Map<String, Reading> found = wanted.isEmpty() ? Map.of() : readers.ask(wanted);
        Instant now = clock.instant();
        Map<String, Seen> next = new HashMap<>();
        for (String toolset : wanted) {
            Seen before = seen.get(toolset);
            Reading reading = found.get(toolset);
            if (reading != null) {
                next.put(toolset, Seen.of(reading, now, before));
            } else if (before != null) {
                next.put(toolset, before);
            }
        }
        seen.keySet().retainAll(next.keySet());
        seen.putAll(next);
        wanted.forEach(whenNew);
        next.forEach((toolset, state) -> {
            if (state.looksWithout() == LOOKS) {
                LOGGER.atInfo()
                        .addKeyValue("toolset", toolset)
                        .addKeyValue("lastServed", state.served())
                        .addKeyValue("backlog", state.reading().backlog())
                        .log("Nobody serves a toolset; its calls wait");
            }
        });
        return next.values().stream().anyMatch(state -> state.looksWithout() == 1);
    }

    /** Stops looking, within seconds. */
    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
        try {
            if (thread.getState() == Thread.State.NEW) {
                readers.close();
            } else if (!thread.join(STOP_LIMIT)) {
                LOGGER.warn("The watch of toolsets did not stop in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
