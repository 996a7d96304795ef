package dev.millrace.agent.projection;

import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.state.Stores;

/** The topology of the projection: the journal into one global store, and nothing else. */
final class ProjectionTopology {

    /** The one store; its keys are {@link ProjectionKeys}. */
    static final String STORE = "projection";

    private ProjectionTopology() {}

    static Topology build(Topics topics, AppliedOffsets applied, Duration retention) {
        return build(topics, applied, retention, polls -> {});
    }

    /**
     * The same.
     *
     * @param begins is given the projector when it begins, to be told of polls
     */
    static Topology build(
            Topics topics, AppliedOffsets applied, Duration retention, Consumer<SweepingClients.Polls> begins) {
        return new Topology()
                .addGlobalStore(
                        // the store has no changelog: the journal itself is what it is built from
                        Stores.keyValueStoreBuilder(
                                        Stores.persistentKeyValueStore(STORE), Serdes.Bytes(), Serdes.ByteArray())
                                .withLoggingDisabled()
                                // what changes often is gathered as objects for each poll, and most keys are put once
                                .withCachingDisabled(),
                        "journal-source",
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer(),
                        topics.journal(),
                        "journal-projector",
                        () -> new JournalProcessor(STORE, applied, retention, begins));
    }
}
