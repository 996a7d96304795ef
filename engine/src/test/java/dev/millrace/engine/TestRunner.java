package dev.millrace.engine;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.TestBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.streams.Topology;
import org.jspecify.annotations.Nullable;

/** Runners of machines that tests make up, on a real broker. */
final class TestRunner {

    private TestRunner() {}

    /** One of this topology, which is made for each start of the machine; its state is in this folder. */
    static MachineRunner of(TestBroker broker, Topics topics, Path state, Supplier<Topology> topology) {
        return of(broker, topics, 1, state, topology);
    }

    /** The same, of topics with so many partitions. */
    static MachineRunner of(TestBroker broker, Topics topics, int partitions, Path state, Supplier<Topology> topology) {
        // polls that are long, so that what must not wait for their end is told from what does
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers()).with("poll.ms", 1_000);
        return of(kafka, topics, partitions, state, topology);
    }

    /** The same, with these settings of Kafka. */
    static MachineRunner of(
            ClientSettings kafka, Topics topics, int partitions, Path state, Supplier<Topology> topology) {
        return of(kafka, topics, partitions, 1, state, topology);
    }

    /** The same, on so many stream threads. */
    static MachineRunner of(
            ClientSettings kafka, Topics topics, int partitions, int threads, Path state, Supplier<Topology> topology) {
        MachineStreams.Settings settings = new MachineStreams.Settings(
                "test machine", topics, topics.prefix() + "machine", state, threads, Duration.ofMillis(20));
        return new MachineRunner(
                kafka,
                "test-start",
                new MachineRunner.Installation(
                        topics, new TopicSettings(partitions, TopicSettings.BROKER_DEFAULT, true)),
                new MachineRunner.Steps() {
                    @Override
                    public @Nullable String prepare() {
                        return null;
                    }

                    @Override
                    public MachineStreams machine() {
                        return new MachineStreams(kafka, settings, topology.get());
                    }

                    @Override
                    public void started() {}
                });
    }
}
