package dev.millrace.gateway.config;

import dev.millrace.api.UsageAnswer;
import dev.millrace.gateway.kafka.AuditLog;
import dev.millrace.gateway.kafka.BrokerProbe;
import dev.millrace.gateway.kafka.Cluster;
import dev.millrace.gateway.kafka.DeadLetterReader;
import dev.millrace.gateway.kafka.EventSender;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.ForgottenTopic;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.MailboxBudget;
import dev.millrace.gateway.kafka.Memory;
import dev.millrace.gateway.kafka.TailSettings;
import dev.millrace.gateway.kafka.TopicRetention;
import dev.millrace.gateway.query.Knowledge;
import dev.millrace.gateway.query.KnownAgents;
import dev.millrace.gateway.query.LocalTasks;
import dev.millrace.gateway.query.Quotas;
import dev.millrace.gateway.query.RecentTasks;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.InternalSecret;
import dev.millrace.kafka.TopicEnds;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.config.ClientsConfig;
import dev.millrace.kafka.config.TopicsConfig;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the gateway's parts. */
@Singleton
public class GatewayWiring {
    private static final Logger LOGGER = LoggerFactory.getLogger(GatewayWiring.class);

    private static final Duration LINGER = Duration.ofSeconds(10);
    private static final Duration AGENTS_FRESH = Duration.ofSeconds(5);

    private final GatewayConfig config;
    private final Cluster cluster;
    private final TopicSettings topicSettings;
    private final InternalSecret secret;

    @Inject
    GatewayWiring(GatewayConfig config, TopicsConfig topicsConfig, Config all, InternalSecret secret) {
        this.config = config;
        this.cluster = new Cluster(ClientsConfig.of(all), topicsConfig.topics());
        this.topicSettings = topicsConfig.settings();
        this.secret = secret;
    }

    @Produces
    @Singleton
    EventSender sender(MeterRegistry metrics) {
        return new EventSender(
                cluster,
                config.produceTimeout(),
                event -> metrics.counter(
                                "millrace.gateway.accepted",
                                "lane",
                                event.lane().laneSuffix())
                        .increment());
    }

    void close(@Disposes EventSender sender) {
        sender.close();
    }

    @Produces
    @Singleton
    AuditLog audit() {
        return new AuditLog(cluster, config.produceTimeout());
    }

    void close(@Disposes AuditLog audit) {
        audit.close();
    }

    @Produces
    @Singleton
    Quotas quotas(AgentClient client) {
        return new Quotas(
                config.quotas().entrySet().stream()
                        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, quota -> quota(quota.getValue()))),
                (namespace, from) -> client.get(
                                AgentClient.path("usage"), Map.of("namespace", namespace, "from", from.toString()))
                        .as(UsageAnswer.class)
                        .total(),
                Clock.systemUTC());
    }

    private static Quotas.Quota quota(GatewayConfig.TenantQuota quota) {
        return new Quotas.Quota(
                quota.tasksPerMinute().orElse(null),
                quota.tokensPerDay().orElse(null),
                quota.costMicrosPerDay().orElse(null),
                quota.streams().orElse(null));
    }

    @Produces
    @Singleton
    MailboxBudget mailboxes(MeterRegistry metrics) {
        MailboxBudget budget = new MailboxBudget(config.stream().totalBuffer().asLongValue());
        Gauge.builder("millrace.gateway.mailboxes", budget, MailboxBudget::held)
                .description("What waits for clients of streams, as it takes memory")
                .baseUnit("bytes")
                .register(metrics);
        return budget;
    }

    @Produces
    @Singleton
    ForgottenTopic forgotten() {
        return new ForgottenTopic(cluster);
    }

    void close(@Disposes ForgottenTopic forgotten) {
        forgotten.close();
    }

    @Produces
    @Singleton
    JournalTail.Shared shared(MailboxBudget budget, ForgottenTopic forgotten) {
        return new JournalTail.Shared(budget, forgotten, new TopicEnds(cluster.client(), "millrace-gateway-ends"));
    }

    void close(@Disposes JournalTail.Shared shared) {
        shared.ends().close();
    }

    @Produces
    @Singleton
    JournalTail tail(JournalTail.Shared shared, MeterRegistry metrics) {
        JournalTail tail = new JournalTail(cluster, tailSettings(), shared);
        Gauge.builder("millrace.gateway.listeners", tail, JournalTail::listeners)
                .description("Streams and waiting requests that listen to the journal")
                .register(metrics);
        Gauge.builder("millrace.gateway.tailed.partitions", tail, JournalTail::assignedPartitions)
                .description("Partitions of the journal that are being read")
                .register(metrics);
        FunctionCounter.builder("millrace.gateway.backfills", tail, JournalTail::backfills)
                .description("Listeners that had to read old records first")
                .register(metrics);
        return tail;
    }

    @Produces
    @Singleton
    EventStreams streams(JournalTail journal, JournalTail.Shared shared, MeterRegistry metrics) {
        EventStreams streams = new EventStreams(journal, JournalTail.ofTokens(cluster, tailSettings(), shared));
        Gauge.builder("millrace.gateway.live.listeners", streams, EventStreams::listeners)
                .description("Streams and requests that listen to live text")
                .register(metrics);
        return streams;
    }

    void close(@Disposes EventStreams streams) {
        streams.close();
    }

    void close(@Disposes JournalTail tail) {
        tail.close();
    }

    private TailSettings tailSettings() {
        return new TailSettings(
                topicSettings.partitions(),
                (int) config.stream().buffer().asLongValue(),
                config.stream().patience(),
                LINGER,
                config.stream().backfills());
    }

    @Produces
    @Singleton
    DeadLetterReader deadLetters() {
        return new DeadLetterReader(cluster);
    }

    @Produces
    @Singleton
    TopicRetention retention() {
        return new TopicRetention(cluster, config.produceTimeout());
    }

    @Produces
    @Singleton
    Memory memory(EventSender sender) {
        return new Memory(cluster, sender);
    }

    void close(@Disposes Memory memory) {
        memory.close();
    }

    @Produces
    @Singleton
    BrokerProbe probe() {
        return new BrokerProbe(cluster, topicSettings, wrong -> {
            LOGGER.error("The gateway stops: {}", wrong.getMessage());
            Quarkus.asyncExit(1);
        });
    }

    void close(@Disposes BrokerProbe probe) {
        probe.close();
    }

    @Produces
    @Singleton
    AgentClient agentClient() {
        return new AgentClient(config.agentUrl(), config.queryTimeout(), secret);
    }

    void close(@Disposes AgentClient client) {
        client.close();
    }

    @Produces
    @Singleton
    Knowledge knowledge() {
        return new Knowledge(new AgentClient(
                "the knowledge service",
                config.knowledge().url(),
                config.knowledge().timeout(),
                secret));
    }

    void close(@Disposes Knowledge knowledge) {
        knowledge.close();
    }

    @Produces
    @Singleton
    KnownAgents agents(AgentClient client) {
        return new KnownAgents(client, AGENTS_FRESH);
    }

    @Produces
    @Singleton
    RecentTasks recentTasks() {
        return new RecentTasks(config.recentTasks(), Clock.systemUTC());
    }

    @Produces
    @Singleton
    Tasks tasks(AgentClient client, Instance<LocalTasks> local, RecentTasks recent) {
        return new Tasks(client, local.isResolvable() ? local.get() : null, recent);
    }

    /** After an embedded broker, which starts with a lower priority. */
    void start(@Observes @Priority(Interceptor.Priority.APPLICATION + 400) StartupEvent event, BrokerProbe probe) {
        probe.start();
    }
}
