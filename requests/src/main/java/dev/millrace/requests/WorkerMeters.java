package dev.millrace.requests;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.AcknowledgeType;

/** What a worker does, as meters: {@code millrace.requests.…}, by toolset. Safe for all threads. */
final class WorkerMeters {
    private static final String TOOLSET = "toolset";
    private static final String BACKLOG = "millrace.requests.backlog";

    private final MeterRegistry meters;
    private final String toolset;
    private final Timer wait;
    private final Counter redeliveries;
    private final Timer replied;
    private final Timer deadLettered;
    private final Timer returned;
    /** A gauge holds no value itself. Unknown is not zero. */
    private final AtomicLong backlog = new AtomicLong(-1);

    WorkerMeters(MeterRegistry meters, String toolset) {
        this.meters = meters;
        this.toolset = toolset;
        wait = Timer.builder("millrace.requests.wait")
                .description("From the time of a request's record to its beginning")
                .tag(TOOLSET, toolset)
                .register(meters);
        redeliveries = Counter.builder("millrace.requests.redeliveries")
                .description("Requests that had been delivered before")
                .tag(TOOLSET, toolset)
                .register(meters);
        replied = run("replied");
        deadLettered = run("dead_lettered");
        returned = run("returned");
        // in one process with agent-service, that one tells
        if (meters.find(BACKLOG).tag(TOOLSET, toolset).gauge() == null) {
            Gauge.builder(BACKLOG, backlog, known -> known.get() < 0 ? Double.NaN : known.get())
                    .description(
                            "Requests on the topic that nobody has finished, as the broker says; NaN = it has not said")
                    .tag(TOOLSET, toolset)
                    .strongReference(true)
                    .register(meters);
        }
    }

    private Timer run(String outcome) {
        return Timer.builder("millrace.requests.run")
                .description("From the beginning of a request to its acknowledged reply")
                .tag(TOOLSET, toolset)
                .tag("outcome", outcome)
                .register(meters);
    }

    /** A request was delivered and is begun. */
    void begun(Job job) {
        wait.record(Duration.ofMillis(
                Math.max(0, System.currentTimeMillis() - job.consumed().timestamp())));
        if (job.deliveryCount() > 1) {
            redeliveries.increment();
        }
    }

    /** A request that was begun is done with, its reply or dead letter acknowledged. */
    void ended(AcknowledgeType outcome, Duration ran) {
        Timer timer =
                switch (outcome) {
                    case ACCEPT -> replied;
                    case REJECT -> deadLettered;
                    case RELEASE, RENEW -> returned;
                };
        timer.record(ran);
    }

    /**
     * How many requests are on the topic that nobody has finished, those that run included: what the broker says, so
     * for a moment the markers of transactions count as well.
     */
    void backlog(long requests) {
        backlog.set(requests);
    }
}
