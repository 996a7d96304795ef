package dev.millrace.tools.config;

import dev.millrace.requests.WorkerMetrics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/** What a worker does, as meters: {@code millrace.requests.…}, by toolset. */
final class MicrometerWorkerMetrics implements WorkerMetrics {

    private static final String TOOLSET = "toolset";

    private final Timer wait;
    private final Counter redeliveries;
    private final Map<Outcome, Timer> runs = new EnumMap<>(Outcome.class);
    /** A gauge holds no value itself. Unknown is not zero. */
    private final AtomicLong backlog = new AtomicLong(-1);

    MicrometerWorkerMetrics(MeterRegistry meters, String toolset) {
        wait = Timer.builder("millrace.requests.wait")
                .description("From the time of a request's record to its beginning")
                .tag(TOOLSET, toolset)
                .register(meters);
        redeliveries = Counter.builder("millrace.requests.redeliveries")
                .description("Requests that had been delivered before")
                .tag(TOOLSET, toolset)
                .register(meters);
        for (Outcome outcome : Outcome.values()) {
            runs.put(
                    outcome,
                    Timer.builder("millrace.requests.run")
                            .description("From the beginning of a request to its acknowledged reply")
                            .tag(TOOLSET, toolset)
                            .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
                            .register(meters));
        }
        Gauge.builder("millrace.requests.backlog", this, metrics -> {
                    long known = metrics.backlog.get();
                    return known < 0 ? Double.NaN : known;
                })
                .description(
                        "Requests on the topic that nobody has finished, as the broker says; NaN = it has not said")
                .tag(TOOLSET, toolset)
                .strongReference(true)
                .register(meters);
    }

    @Override
    public void begun(Duration waited, int deliveryCount) {
        wait.record(waited);
        if (deliveryCount > 1) {
            redeliveries.increment();
        }
    }

    @Override
    public void ended(Outcome outcome, Duration ran) {
        Objects.requireNonNull(runs.get(outcome)).record(ran);
    }

    @Override
    public void backlog(long requests) {
        backlog.set(requests);
    }
}
