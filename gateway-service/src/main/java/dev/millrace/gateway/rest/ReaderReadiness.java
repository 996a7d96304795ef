package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.Memory;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;

/** Ready while all that reads topics does so. One that has failed begins again by itself, so this does not last. */
@Readiness
@Singleton
public class ReaderReadiness implements HealthCheck {
    private final JournalTail tail;
    private final EventStreams streams;
    private final Memory memory;

    @Inject
    ReaderReadiness(JournalTail tail, EventStreams streams, Memory memory) {
        this.tail = tail;
        this.streams = streams;
        this.memory = memory;
    }

    @Override
    public HealthCheckResponse call() {
        HealthCheckResponseBuilder response = HealthCheckResponse.named("gateway: readers");
        List<String> failures = Stream.of(tail.failure(), streams.failure(), memory.problem())
                .flatMap(Optional::stream)
                .toList();
        return failures.isEmpty()
                ? response.up().build()
                : response.down()
                        .withData("reason", String.join("; ", failures))
                        .build();
    }
}
