package dev.millrace.agent.config;

import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.kafka.config.ClientsConfig;
import dev.millrace.kafka.config.TopicsConfig;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import org.eclipse.microprofile.config.Config;

/** Makes and starts the projection. */
public class ProjectionWiring {

    /** After the beans that make topics: the projection would only try again. */
    private static final int AFTER_TOPICS = Interceptor.Priority.APPLICATION + 500;

    @Produces
    @Singleton
    TaskProjection projection(TopicsConfig topics, ProjectionConfig config, Config kafka, MeterRegistry metrics) {
        TaskProjection projection =
                new TaskProjection(ClientsConfig.of(kafka), topics.topics(), config.stateDir(), config.retention());
        FunctionCounter.builder("millrace.projection.records", projection, TaskProjection::appliedRecords)
                .description("Records of the journal that the projection has taken")
                .register(metrics);
        FunctionCounter.builder("millrace.projection.malformed", projection, TaskProjection::malformedRecords)
                .description("Records of the journal that were no events and were passed over")
                .register(metrics);
        FunctionCounter.builder("millrace.projection.skipped", projection, TaskProjection::skippedRecords)
                .description("Records of the journal that a defect kept from being taken")
                .register(metrics);
        return projection;
    }

    void start(@Observes @Priority(AFTER_TOPICS) StartupEvent event, TaskProjection projection) {
        projection.start();
    }

    void close(@Disposes TaskProjection projection) {
        projection.close();
    }
}
