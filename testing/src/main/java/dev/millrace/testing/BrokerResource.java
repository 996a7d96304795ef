package dev.millrace.testing;

import dev.millrace.schemas.Topics;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.util.Map;

/**
 * Gives a {@code @QuarkusTest} the broker and a fresh set of topics, which the application finds under the usual keys:
 * {@code @RequiresBroker @QuarkusTestResource(BrokerResource.class)}. The test itself gets at them with {@code
 * TestBroker.shared()} and the configured {@code millrace.topics.prefix}.
 */
public final class BrokerResource implements QuarkusTestResourceLifecycleManager {

    /** For Quarkus. */
    public BrokerResource() {}

    @Override
    public Map<String, String> start() {
        TestBroker broker = TestBroker.shared();
        Topics topics = broker.createTopics();
        return Map.of(
                "kafka.bootstrap.servers", broker.bootstrapServers(),
                "millrace.topics.prefix", topics.prefix(),
                "millrace.topics.partitions", Integer.toString(TestBroker.DEFAULT_PARTITIONS));
    }

    /** Does nothing: the broker lives as long as the JVM. */
    @Override
    public void stop() {}
}
