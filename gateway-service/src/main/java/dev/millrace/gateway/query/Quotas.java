package dev.millrace.gateway.query;

import dev.millrace.api.UsageSums;
import dev.millrace.http.client.QueryUnavailableException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What namespaces may still start. Tasks are counted here, so per instance of the gateway; what models have used today
 * is asked of agent-service every few seconds, and so known a little late: what has begun goes on. For any thread.
 */
public final class Quotas {
    private static final Logger LOGGER = LoggerFactory.getLogger(Quotas.class);

    /** The namespace whose quota is that of all who have none of their own. */
    public static final String ALL_OTHERS = "*";

    /** So many namespaces are remembered; of those that have started nothing for longest the count begins anew. */
    public static final int REMEMBERED = 10_000;

    static final Duration FRESH = Duration.ofSeconds(5);

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Map<String, Quota> quotas;
    private final Spending spending;
    private final Clock clock;
    /** In the order of use. Guarded by itself, with what is in it. */
    private final Map<String, Account> accounts = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Account> eldest) {
            return size() > REMEMBERED;
        }
    };

    /**
     * What a namespace may start.
     *
     * @param tasksPerMinute at an instance of the gateway, as many at once; {@code null} = any number
     * @param tokensPerDay that models read and write, by the day in UTC; {@code null} = any number
     * @param costMicrosPerDay in millionths of a US dollar, as far as prices are configured; {@code null} = any amount
     * @param streams that may be open at an instance of the gateway; {@code null} = any number
     */
    public record Quota(
            @Nullable Integer tasksPerMinute,
            @Nullable Long tokensPerDay,
            @Nullable Long costMicrosPerDay,
            @Nullable Integer streams) {

        boolean ofTheDay() {
            return tokensPerDay != null || costMicrosPerDay != null;
        }
    }

    /** Tells what models have used. */
    @FunctionalInterface
    public interface Spending {
        /** Of a namespace, since the hour of this moment. */
        UsageSums since(String namespace, Instant from) throws QueryUnavailableException, InterruptedException;
    }

    /**
     * A quota that is used up.
     *
     * @param name as it is called in the settings
     * @param limit what it allows
     * @param found what was used, or asked for
     * @param retryAfter when there is something of it again
     */
    public record Exceeded(String name, long limit, long found, Duration retryAfter) {}

    /** What one namespace has used. */
    private static final class Account {
        /** Tasks that may be started now. */
        double tasks;

        Instant filledAt;

        @Nullable
        UsageSums used;

        Instant usedAt = Instant.MIN;

        Account(double tasks, Instant now) {
            this.tasks = tasks;
            this.filledAt = now;
        }
    }

    /**
     * Nothing used yet.
     *
     * @param quotas by namespace; {@link #ALL_OTHERS} = each that has none of its own
     */
    public Quotas(Map<String, Quota> quotas, Spending spending, Clock clock) {
        this.quotas = Map.copyOf(quotas);
        this.spending = spending;
        this.clock = clock;
    }

    /**
     * Counts tasks that are to be started in a namespace, unless that is too many.
     *
     * @param tasks 1 or more
     * @return the quota that is in the way, and nothing is counted; empty = they may be started
     */
    public Optional<Exceeded> take(String namespace, int tasks) {
        Quota quota = quotas.getOrDefault(namespace, quotas.get(ALL_OTHERS));
        if (quota == null) {
            return Optional.empty();
        }
        if (quota.ofTheDay()) {
            Optional<Exceeded> spent = ofTheDay(namespace, quota);
            if (spent.isPresent()) {
                return spent;
            }
        }
        return quota.tasksPerMinute() == null
                ? Optional.empty()
                : ofTheMinute(namespace, quota.tasksPerMinute(), tasks);
    }

    /** How many streams of a namespace may be open here at the same time; empty = any number. */
    public OptionalInt streams(String namespace) {
        Quota quota = quotas.getOrDefault(namespace, quotas.get(ALL_OTHERS));
        return quota == null || quota.streams() == null ? OptionalInt.empty() : OptionalInt.of(quota.streams());
    }

    private Optional<Exceeded> ofTheMinute(String namespace, int limit, int tasks) {
        Instant now = clock.instant();
        synchronized (accounts) {
            Account account = account(namespace, now);
            double perMilli = limit / (double) MINUTE.toMillis();
            double since = Math.max(0, Duration.between(account.filledAt, now).toMillis());
            account.tasks = Math.min(limit, account.tasks + since * perMilli);
            account.filledAt = now;
            if (account.tasks >= tasks) {
                account.tasks -= tasks;
                return Optional.empty();
            }
            Duration wait = Duration.ofMillis((long) Math.ceil((tasks - account.tasks) / perMilli));
            return Optional.of(new Exceeded("tasks-per-minute", limit, tasks, wait));
        }
    }

    private Optional<Exceeded> ofTheDay(String namespace, Quota quota) {
        Instant now = clock.instant();
        Instant midnight = now.truncatedTo(ChronoUnit.DAYS);
        UsageSums used = used(namespace, now, midnight);
        if (used == null) {
            return Optional.empty();
        }
        Duration untilTomorrow = Duration.between(now, midnight.plus(1, ChronoUnit.DAYS));
        long tokens = used.inputTokens() + used.outputTokens();
        if (quota.tokensPerDay() != null && tokens >= quota.tokensPerDay()) {
            return Optional.of(new Exceeded("tokens-per-day", quota.tokensPerDay(), tokens, untilTomorrow));
        }
        return quota.costMicrosPerDay() != null && used.costMicros() >= quota.costMicrosPerDay()
                ? Optional.of(
                        new Exceeded("cost-micros-per-day", quota.costMicrosPerDay(), used.costMicros(), untilTomorrow))
                : Optional.empty();
    }

    /** Under the lock. */
    private Account account(String namespace, Instant now) {
        Quota quota = quotas.getOrDefault(namespace, quotas.get(ALL_OTHERS));
        return accounts.computeIfAbsent(
                namespace,
                name -> new Account(quota == null || quota.tasksPerMinute() == null ? 0 : quota.tasksPerMinute(), now));
    }

    /** What was used since midnight, as it was known last; {@code null} = it is not known. */
    private @Nullable UsageSums used(String namespace, Instant now, Instant midnight) {
        synchronized (accounts) {
            Account account = account(namespace, now);
            if (account.usedAt.isBefore(midnight)) {
                account.used = null;
            } else if (now.isBefore(account.usedAt.plus(FRESH))) {
                return account.used;
            }
            account.usedAt = now; // the others take what was known before, and only one asks
        }
        UsageSums used = null;
        try {
            used = spending.since(namespace, midnight);
        } catch (QueryUnavailableException e) {
            LOGGER.atDebug().setCause(e).log("What models have used today is not known now");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // whoever asked will notice when they next wait
        }
        synchronized (accounts) {
            Account account = accounts.get(namespace);
            if (account == null) {
                return used;
            }
            account.used = used == null ? account.used : used;
            return account.used;
        }
    }
}
