package dev.millrace.agent.rest;

import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.schemas.Topics;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Makes and starts the projection. */
public class ProjectionWiring {

    /** After the beans that make topics: the projection would only try again. */
    private static final int AFTER_TOPICS = Interceptor.Priority.APPLICATION + 500;

    @Produces
    @Singleton
    TaskProjection projection(
            @ConfigProperty(name = "millrace.topics.prefix", defaultValue = Topics.DEFAULT_PREFIX) String prefix,
            ProjectionConfig config,
            Config kafka,
            MeterRegistry metrics) {
        TaskProjection projection =
                new TaskProjection(kafkaOf(kafka), new Topics(prefix), config.stateDir(), config.retention());
        FunctionCounter.builder("millrace.projection.records", projection, TaskProjection::appliedRecords)
                .description("Records of the journal that the projection has taken")
                .register(metrics);
        FunctionCounter.builder("millrace.projection.malformed", projection, TaskProjection::malformedRecords)
                .description("Records of the journal that were no events and were passed over")
                .register(metrics);
        return projection;
    }

    /** All {@code kafka.*} keys without that prefix: how to reach the brokers. */
    private static Map<String, Object> kafkaOf(Config config) {
        Map<String, Object> kafka = new HashMap<>();
        for (String name : config.getPropertyNames()) {
            if (name.startsWith("kafka.")) {
                config.getOptionalValue(name, String.class)
                        .ifPresent(value -> kafka.put(name.substring("kafka.".length()), value));
            }
        }
        // asked for by name, so that the environment variable counts
        kafka.put(
                "bootstrap.servers",
                config.getOptionalValue("kafka.bootstrap.servers", String.class).orElse("localhost:9092"));
        return kafka;
    }

    void start(@Observes @Priority(AFTER_TOPICS) StartupEvent event, TaskProjection projection) {
        projection.start();
    }

    void close(@Disposes TaskProjection projection) {
        projection.close();
    }
}
