package dev.millrace.agent.topology;

import dev.millrace.engine.MachineStreams;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;

/** How the task topology runs. */
public final class TaskStreams {

    private TaskStreams() {}

    /**
     * How the topology runs.
     *
     * @param topics of the installation
     * @param applicationId group, and prefix of internal topics
     * @param stateDir for this instance alone
     * @param threads 1 or more
     * @param commitInterval more than zero
     * @param lanePriority whether so little is buffered that a higher lane overtakes a lower one at once
     */
    public record Settings(
            Topics topics,
            String applicationId,
            Path stateDir,
            int threads,
            Duration commitInterval,
            boolean lanePriority) {
        public Settings {
            MachineStreams.Settings.require("millrace.agent", threads, commitInterval);
        }
    }

    /** Not started yet; {@code kafka} says how to reach the brokers. */
    public static MachineStreams of(ClientSettings kafka, Settings settings, Topology topology) {
        return new MachineStreams(config(kafka, settings), machine(settings), topology);
    }

    /** The settings of Streams; visible to tests. */
    static ClientSettings config(ClientSettings kafka, Settings settings) {
        ClientSettings config = kafka;
        if (settings.lanePriority()) {
            // What has been fetched or buffered is worked through before anything else is looked at, so it has to be
            // little: these are the lengths of the lines that a record of a higher lane still stands in (ADR 0010).
            config = config.withDefault(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, 20)
                    .withDefault(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 50)
                    .withDefault(
                            StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG), 16_384);
        }
        return MachineStreams.config(config, machine(settings));
    }

    private static MachineStreams.Settings machine(Settings settings) {
        return new MachineStreams.Settings(
                "task machine",
                settings.topics(),
                settings.applicationId(),
                settings.stateDir(),
                settings.threads(),
                settings.commitInterval());
    }
}
