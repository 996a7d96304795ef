package dev.millrace.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.broker.BrokerUsers;
import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A share group that is not as it must be is not used, whoever is to set it up. Broker with users and access lists. */
class ShareGroupIT {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final String ADMIN = "admin";
    private static final BrokerUsers USERS =
            new BrokerUsers(Map.of(ADMIN, "a", "blind", "b", "reader", "c", "owner", "d", "lock", "e"), Set.of(ADMIN));

    @TempDir
    static Path folder;

    private static EmbeddedBroker broker;
    private static Admin admin;

    @BeforeAll
    @SuppressWarnings("NullAway") // fields of a test
    static void start() throws Exception {
        broker = EmbeddedBroker.start(folder.resolve("kafka"), 0, USERS.broker());
        admin = Admin.create(client(ADMIN).values());
        admin.createTopics(List.of(
                        new NewTopic(TOPICS.requests("tool"), 1, (short) 1),
                        new NewTopic(TOPICS.lane(Segment.TOOL), 1, (short) 1)))
                .all()
                .get();
        List<AclBinding> lines = new ArrayList<>();
        for (String user : List.of("blind", "reader", "owner", "lock")) {
            lines.add(line(user, ResourceType.TOPIC, TOPICS.requests("tool"), AclOperation.READ));
            lines.add(line(user, ResourceType.GROUP, group(user), AclOperation.READ));
            if (!user.equals("blind")) {
                lines.add(line(user, ResourceType.GROUP, group(user), AclOperation.DESCRIBE_CONFIGS));
            }
        }
        lines.add(line("owner", ResourceType.GROUP, group("owner"), AclOperation.ALTER_CONFIGS));
        admin.createAcls(lines).all().get();
    }

    @AfterAll
    static void stop() {
        admin.close();
        broker.close();
    }

    @Test
    @DisplayName("a group on latest that the worker may not set up is not used, and the reason says what to do")
    void shouldNotUseAGroupOnLatest() throws Exception {
        try (ShareGroup group = new ShareGroup(settings("reader"))) {
            assertThatThrownBy(group::prepare)
                    .isInstanceOf(KafkaException.class)
                    .hasMessageContaining("expected share.auto.offset.reset=earliest, found latest")
                    .hasMessageContaining("expected share.isolation.level=read_committed, found read_uncommitted")
                    .hasMessageContaining("AlterConfigs");
        }

        // when: the worker of such a group runs, and an administrator sets the group up
        try (RequestWorker worker = RequestWorker.start(
                settings("reader"), request -> new Reply.Completed(null, 0), new SimpleMeterRegistry())) {
            assertThat(worker.isReady()).isFalse();
            configure("reader");

            // then
            await().atMost(LIMIT).until(worker::isReady);
        }
    }

    @Test
    @DisplayName("a group that the worker may not even look at is not used")
    void shouldNotUseAGroupThatItCannotSee() throws Exception {
        configure("blind");
        try (ShareGroup group = new ShareGroup(settings("blind"))) {
            assertThatThrownBy(group::prepare)
                    .isInstanceOf(KafkaException.class)
                    .hasMessageContaining("expected to be allowed to DescribeConfigs");
        }
    }

    @Test
    @DisplayName("a group that others have set up is used, also with another lock than is wanted")
    void shouldUseAGroupThatIsRight() throws Exception {
        configure("lock");
        try (ShareGroup group = new ShareGroup(settings("lock"))) {
            assertThat(group.prepare()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("who may set the group up does so")
    void shouldSetTheGroupUp() throws Exception {
        try (ShareGroup group = new ShareGroup(settings("owner"))) {
            assertThat(group.prepare()).isEqualTo(1);
        }

        ConfigResource resource = new ConfigResource(ConfigResource.Type.GROUP, group("owner"));
        // the broker answers before it knows of the change itself
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(admin.describeConfigs(List.of(resource))
                                .all()
                                .get()
                                .values())
                        .flatExtracting(Config::entries)
                        .extracting(ConfigEntry::value)
                        .contains("earliest", "read_committed"));
    }

    private static void configure(String user) throws Exception {
        admin.incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.GROUP, group(user)),
                        List.of(
                                set("share.auto.offset.reset", "earliest"),
                                set("share.isolation.level", "read_committed"))))
                .all()
                .get();
    }

    private static AlterConfigOp set(String name, String value) {
        return new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
    }

    private static AclBinding line(String user, ResourceType type, String name, AclOperation operation) {
        return new AclBinding(
                new ResourcePattern(type, name, PatternType.LITERAL),
                new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW));
    }

    private static WorkerSettings settings(String user) {
        return new WorkerSettings(
                client(user),
                TOPICS,
                "tool",
                group(user),
                1,
                WorkerSettings.DEFAULT_MAX_DELIVERIES,
                WorkerSettings.DEFAULT_LOCK,
                Duration.ofSeconds(1));
    }

    private static String group(String user) {
        return user + "-tools";
    }

    private static ClientSettings client(String user) {
        return ClientSettings.at(broker.bootstrapServers()).with(USERS.client(user));
    }
}
