package dev.millrace.bench;

import dev.millrace.agent.config.AgentRuntime;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.kafka.Definitions;
import dev.millrace.agent.kafka.InstanceEvents;
import dev.millrace.agent.thinker.LiveText;
import dev.millrace.agent.topology.AdmissionSettings;
import dev.millrace.agent.topology.Occupancy;
import dev.millrace.agent.topology.ShellMetrics;
import dev.millrace.agent.topology.TaskShellSettings;
import dev.millrace.agent.topology.TaskStreams;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** The task machine alone, with the settings that {@code ./millrace up} has. */
final class Machine {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration PAUSE = Duration.ofMillis(20);

    private Machine() {}

    static AgentRuntime start(KafkaClients kafka, Topics topics, Path folder, LanguageModel model, boolean lanePriority)
            throws InterruptedException {
        return start(kafka, topics, folder, lanePriority, new Load(model, 5, DispatcherLimits.DEFAULTS));
    }

    /**
     * What it has to do.
     *
     * @param activeTasks tasks that may work at the same time, per partition
     */
    record Load(LanguageModel model, int activeTasks, DispatcherLimits limits) {}

    /** The same with so much at a time. */
    static AgentRuntime start(KafkaClients kafka, Topics topics, Path folder, boolean lanePriority, Load load)
            throws InterruptedException {
        AgentRuntime runtime = new AgentRuntime(
                kafka.settings(),
                new AgentRuntime.Settings(
                        new TopicSettings(BacklogWorkload.PARTITIONS, TopicSettings.BROKER_DEFAULT, true),
                        MachineLimits.DEFAULT,
                        Duration.ofHours(1),
                        new Definitions.AgentFiles(folder.resolve("agents"), Duration.ofSeconds(1)),
                        16_384,
                        new TaskShellSettings(
                                topics,
                                BacklogWorkload.PARTITIONS,
                                Duration.ofHours(24),
                                Duration.ofDays(30),
                                false,
                                new AdmissionSettings(load.activeTasks(), AdmissionSettings.Policy.QUEUE),
                                Duration.ofDays(30),
                                lanePriority),
                        new TaskStreams.Settings(
                                topics,
                                topics.prefix() + "agent",
                                folder.resolve(topics.prefix() + "state"),
                                1,
                                Duration.ofMillis(20),
                                lanePriority),
                        new InstanceEvents.Settings("bench", "bench", Duration.ofHours(1)),
                        Duration.ZERO,
                        LiveText.Settings.DEFAULT),
                new AgentRuntime.Parts(
                        BuiltInAgents.agents(),
                        new ModelDispatcher(load.model(), load.limits()),
                        (namespace, taskId) -> Optional.empty(),
                        new Uncounted(),
                        new Occupancy()));
        runtime.start();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (runtime.notReady().isPresent()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(
                        "the machine did not start: " + runtime.notReady().orElse(""));
            }
            Thread.sleep(PAUSE);
        }
        return runtime;
    }

    private record Uncounted() implements ShellMetrics {
        @Override
        public void accepted(EventType type) {}

        @Override
        public void discarded(EventType type, DiscardReason reason) {}

        @Override
        public void deadLettered(String reason) {}

        @Override
        public void processed(String processor, String outcome) {}

        @Override
        public void rerouted() {}

        @Override
        public void admittedOverLimit() {}
    }
}
