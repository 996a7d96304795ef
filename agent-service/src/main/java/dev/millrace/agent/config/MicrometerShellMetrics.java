package dev.millrace.agent.config;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.topology.ShellMetrics;
import dev.millrace.schemas.EventType;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts what the shell does. The names of custom types are not used as tags: strangers choose them. */
final class MicrometerShellMetrics implements ShellMetrics {

    private final MeterRegistry registry;
    private final Map<String, Counter> accepted = new ConcurrentHashMap<>();

    MicrometerShellMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void accepted(EventType type) {
        // one for each event: to look it up in the registry costs more than to count
        accepted.computeIfAbsent(tag(type), tag -> registry.counter("millrace.agent.events", "eventType", tag))
                .increment();
    }

    @Override
    public void discarded(EventType type, DiscardReason reason) {
        registry.counter(
                        "millrace.agent.discards",
                        "eventType",
                        tag(type),
                        "reason",
                        reason.name().toLowerCase(Locale.ROOT))
                .increment();
    }

    @Override
    public void deadLettered(String reason) {
        registry.counter("millrace.agent.dead.letters", "reason", reason).increment();
    }

    @Override
    public void rerouted() {
        registry.counter("millrace.agent.rerouted").increment();
    }

    @Override
    public void processed(String processor, String outcome) {
        registry.counter("millrace.agent.processed", "processor", processor, "outcome", outcome)
                .increment();
    }

    @Override
    public void admittedOverLimit() {
        registry.counter("millrace.agent.admitted.over.limit").increment();
    }

    private static String tag(EventType type) {
        return type.isOpen() ? "custom" : type.wireName();
    }
}
