package dev.millrace.reflection.config;

import dev.millrace.engine.MachineStreams;
import dev.millrace.engine.config.MachineHealth;
import dev.millrace.kafka.config.ClientsConfig;
import dev.millrace.kafka.config.TopicsConfig;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.config.LanguageModels;
import dev.millrace.llm.config.LlmConfig;
import dev.millrace.reflection.core.Capacity;
import dev.millrace.reflection.thinker.Reflector;
import dev.millrace.reflection.topology.MemorySettings;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.arc.DefaultBean;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.Liveness;
import org.eclipse.microprofile.health.Readiness;

/** Turns configuration into the service's parts. */
public class ReflectionWiring {

    private static final String NAME = "memory-machine";

    /** Only where no other service in this process has one: then both share the same permits. */
    @Produces
    @DefaultBean
    @Singleton
    ModelDispatcher dispatcher(LanguageModel model, LlmConfig config) {
        return new ModelDispatcher(model, LanguageModels.limits(config));
    }

    @Produces
    @Singleton
    ReflectionRuntime.Parts parts(ModelDispatcher dispatcher, MeterRegistry registry) {
        return new ReflectionRuntime.Parts(dispatcher, registry);
    }

    @Produces
    @Singleton
    ReflectionRuntime runtime(TopicsConfig topics, ReflectionConfig config, Config all, ReflectionRuntime.Parts parts) {
        return new ReflectionRuntime(ClientsConfig.of(all), settings(topics, config), parts);
    }

    static ReflectionRuntime.Settings settings(TopicsConfig topics, ReflectionConfig config) {
        MachineStreams.Settings.require("millrace.reflection", config.streamThreads(), config.commitInterval());
        return new ReflectionRuntime.Settings(
                topics.settings(),
                new MemorySettings(
                        topics.topics(),
                        topics.partitions(),
                        config.keptVersions(),
                        new Capacity(config.maxDocuments(), config.maxBytes())),
                new MachineStreams.Settings(
                        "memory machine",
                        topics.topics(),
                        topics.prefix() + "reflection",
                        config.stateDir(),
                        config.streamThreads(),
                        config.commitInterval()),
                new Reflector.Model(config.model().orElse(null), config.contextWindow()),
                config.shutdownGrace());
    }

    @Produces
    @Readiness
    HealthCheck memoryReady(ReflectionRuntime runtime) {
        return MachineHealth.ready(NAME, runtime::notReady);
    }

    @Produces
    @Liveness
    HealthCheck memoryLive(ReflectionRuntime runtime) {
        return MachineHealth.live(NAME, runtime::fatal);
    }

    void start(
            @Observes @Priority(Interceptor.Priority.APPLICATION + 100) StartupEvent event, ReflectionRuntime runtime) {
        runtime.start();
    }

    void stop(@Observes ShutdownEvent event, ReflectionRuntime runtime) {
        runtime.close();
    }
}
