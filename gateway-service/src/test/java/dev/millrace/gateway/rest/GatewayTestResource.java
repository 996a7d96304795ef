package dev.millrace.gateway.rest;

import dev.millrace.schemas.Topics;
import dev.millrace.testing.TestBroker;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A broker with topics, and the stub of agent-service that reads their journal. */
public final class GatewayTestResource implements QuarkusTestResourceLifecycleManager {
    private @Nullable StubAgent agent;

    /** For Quarkus. */
    public GatewayTestResource() {}

    @Override
    public Map<String, String> start() {
        // the stub stands for an HTTP server that does not wait for the second packet of an answer
        System.setProperty("sun.net.httpserver.nodelay", "true");
        TestBroker broker = TestBroker.shared();
        Topics topics = broker.createTopics();
        Path watched;
        try {
            watched = Files.createTempDirectory("millrace-watched");
            agent = new StubAgent(broker.bootstrapServers(), topics, TestBroker.DEFAULT_PARTITIONS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, String> config = new HashMap<>(Map.of(
                "millrace.gateway.webhooks.github.scheme",
                "github",
                "millrace.gateway.webhooks.github.secrets",
                "It's a Secret to Everybody",
                "millrace.gateway.webhooks.open.scheme",
                "none",
                "millrace.gateway.webhooks.open.id-header",
                "X-Id",
                "millrace.gateway.webhooks.open.only",
                "push",
                "millrace.gateway.webhooks.open.type",
                "WEBHOOK_TRIGGERED",
                "millrace.gateway.webhooks.open.template",
                "Look at {{body.repo}}",
                "millrace.gateway.webhooks.open.session",
                "{{body.repo}}"));
        for (String scheme : List.of("standard", "stripe", "slack", "hmac", "github")) {
            String source = "millrace.gateway.webhooks.it-" + scheme;
            config.put(source + ".scheme", scheme);
            config.put(source + ".secrets", "sesame of " + scheme.toUpperCase(Locale.ROOT));
        }
        config.put("millrace.gateway.webhooks.it-hmac.id-header", "X-Id");
        config.putAll(Map.of(
                "millrace.gateway.watch.inbox.folder",
                watched.toString(),
                "millrace.gateway.watch.inbox.session",
                "inbox",
                "millrace.gateway.quotas.limited.tasks-per-minute",
                "2",
                "millrace.gateway.quotas.retrying.tasks-per-minute",
                "1"));
        config.putAll(Map.of(
                "kafka.bootstrap.servers",
                broker.bootstrapServers(),
                "millrace.topics.prefix",
                topics.prefix(),
                "millrace.topics.partitions",
                Integer.toString(TestBroker.DEFAULT_PARTITIONS),
                "millrace.gateway.agent-url",
                agent.url(),
                "millrace.gateway.knowledge.url",
                "http://127.0.0.1:1",
                "millrace.gateway.stream.heartbeat",
                "1s",
                "millrace.gateway.stream.patience",
                "3s",
                "quarkus.http.test-port",
                "0"));
        return config;
    }

    @Override
    public void stop() {
        if (agent != null) {
            agent.close();
        }
    }
}
