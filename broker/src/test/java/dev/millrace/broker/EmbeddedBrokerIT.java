package dev.millrace.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.broker.BrokerStartException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.admin.ShareMemberDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirDeletionStrategy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EmbeddedBrokerIT {

    private static final String TOPIC = "facts";
    private static final String GROUP = "workers";

    // what is left of a start that was refused may still write for a moment
    @TempDir(deletionStrategy = TempDirDeletionStrategy.IgnoreFailures.class)
    Path temp;

    @Test
    @DisplayName("asks its users who they are, lets them do what lines say, and goes on so after a restart")
    void shouldKnowItsUsers() throws Exception {
        BrokerUsers users = new BrokerUsers(Map.of("admin", "s3cret", "guest", "s4cret"), Set.of("admin"));
        for (int start = 0; start < 2; start++) {
            try (EmbeddedBroker broker = EmbeddedBroker.start(temp, 0, users.broker());
                    Admin admin = Admin.create(of(broker, users.client("admin")));
                    Admin guest = Admin.create(of(broker, users.client("guest")));
                    Admin nobody = Admin.create(of(broker, Map.of()));
                    Admin liar = Admin.create(
                            of(broker, new BrokerUsers(Map.of("admin", "guess"), Set.of("admin")).client("admin")))) {
                NewTopic topic = new NewTopic(TOPIC + start, 1, (short) 1);

                assertThatThrownBy(
                                () -> guest.createTopics(List.of(topic)).all().get())
                        .hasCauseInstanceOf(AuthorizationException.class);
                assertThatThrownBy(() -> liar.createTopics(List.of(topic)).all().get())
                        .hasCauseInstanceOf(SaslAuthenticationException.class);
                assertThatThrownBy(
                                () -> nobody.createTopics(List.of(topic)).all().get())
                        .hasCauseInstanceOf(TimeoutException.class);
                assertThatCode(() -> admin.createTopics(List.of(topic)).all().get())
                        .doesNotThrowAnyException();
            }
        }
        assertThat(users.toString()).doesNotContain("s3cret", "s4cret");
    }

    private static Map<String, Object> of(EmbeddedBroker broker, Map<String, String> client) {
        Map<String, Object> settings = new HashMap<>(client);
        settings.put("bootstrap.servers", broker.bootstrapServers());
        settings.put("default.api.timeout.ms", 2_000);
        settings.put("request.timeout.ms", 1_000);
        return settings;
    }

    @Test
    @DisplayName("keeps records, topics and the cluster's identity from one start to the next")
    void shouldGoOnWithItsData() throws Exception {
        // given
        Path folder = temp.resolve("not/yet/there");
        String clusterId;
        try (EmbeddedBroker first = EmbeddedBroker.start(folder, 0)) {
            clusterId = clusterId(first);
            createTopic(first);
            append(first, "before");
        }

        // when
        try (EmbeddedBroker second = EmbeddedBroker.start(folder, 0)) {
            append(second, "after");

            // then
            assertThat(records(second)).containsExactly("before", "after");
            assertThat(clusterId(second)).isEqualTo(clusterId);
        }
    }

    @Test
    @DisplayName("goes on after SIGKILL within seconds, with every acknowledged record")
    void shouldStartQuicklyAfterSigkill() throws Exception {
        // given
        try (EmbeddedBroker first = EmbeddedBroker.start(temp, 0)) {
            createTopic(first);
            append(first, "acknowledged");
        }
        Process process = BrokerProcess.start(temp);
        process.destroyForcibly();
        process.waitFor();

        // when
        long start = System.nanoTime();
        try (EmbeddedBroker second = EmbeddedBroker.start(temp, 0)) {
            Duration took = Duration.ofNanos(System.nanoTime() - start);

            // then
            assertThat(records(second)).containsExactly("acknowledged");
            // 1.5 s on a quiet machine; Kafka's default settings make it 11 s or more
            assertThat(took).isLessThan(Duration.ofSeconds(9));
        }
    }

    @Test
    @DisplayName("after SIGKILL it loads its groups once: Kafka takes the end of one load for that of the next")
    void shouldLoadGroupsOnceAfterSigkill() throws Exception {
        // given
        try (EmbeddedBroker first = EmbeddedBroker.start(temp, 0)) {
            createTopic(first);
            try (Admin admin = admin(first)) {
                admin.alterConsumerGroupOffsets(
                                "readers", Map.of(new TopicPartition(TOPIC, 0), new OffsetAndMetadata(0)))
                        .all()
                        .get();
            }
        }
        Process killed = BrokerProcess.start(temp);
        killed.destroyForcibly();
        killed.waitFor();

        // when
        Process next = BrokerProcess.launch(
                temp,
                "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime=info");
        List<String> said;
        try {
            said = BrokerProcess.linesUntil(
                    next, line -> line.contains("Finished loading of metadata from __consumer_offsets-0 with epoch 4"));
        } finally {
            next.destroyForcibly();
            next.waitFor();
        }

        // then
        assertThat(said)
                .filteredOn(line -> line.contains("Scheduling loading of metadata from __consumer_offsets-0"))
                .hasSize(1);
    }

    @Test
    @DisplayName("takes members out of their groups; one who lives comes back")
    void shouldEndMemberships() throws Exception {
        // given
        try (EmbeddedBroker broker = EmbeddedBroker.start(temp, 0);
                Admin admin = admin(broker);
                KafkaShareConsumer<String, String> member = new KafkaShareConsumer<>(
                        Map.of("bootstrap.servers", broker.bootstrapServers(), "group.id", GROUP),
                        new StringDeserializer(),
                        new StringDeserializer())) {
            createTopic(broker);
            member.subscribe(List.of(TOPIC));
            int joined = awaitMember(admin, member, 0);

            // when
            int ended = broker.endMemberships();

            // then
            assertThat(ended).isEqualTo(1);
            assertThat(awaitMember(admin, member, joined)).isGreaterThan(joined);
        }
    }

    @Test
    @DisplayName("there are no members to take out where nobody has ever been in a group")
    void shouldEndNoMembershipsInNewFolder() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(temp, 0)) {
            assertThat(broker.endMemberships()).isZero();
        }
    }

    /** The epoch of the only member of its group, once that is later than this one. */
    private static int awaitMember(Admin admin, KafkaShareConsumer<String, String> member, int joined)
            throws ExecutionException, InterruptedException {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (System.nanoTime() - deadline < 0) {
            member.poll(Duration.ofMillis(100));
            KafkaFuture<ShareGroupDescription> described = Objects.requireNonNull(
                    admin.describeShareGroups(List.of(GROUP)).describedGroups().get(GROUP));
            List<ShareMemberDescription> members = described
                    .toCompletionStage()
                    .toCompletableFuture()
                    .handle((group, notThereYet) ->
                            group == null ? List.<ShareMemberDescription>of() : List.copyOf(group.members()))
                    .get();
            if (members.size() == 1 && members.getFirst().memberEpoch() > joined) {
                return members.getFirst().memberEpoch();
            }
        }
        throw new AssertionError("expected one member after epoch " + joined + " within 20 s");
    }

    @Test
    @DisplayName("has share groups and streams groups, and makes no topic that nobody asked for")
    void shouldOfferWhatMillraceNeeds() throws Exception {
        // given
        try (EmbeddedBroker broker = EmbeddedBroker.start(temp, 0);
                Admin admin = admin(broker)) {
            // when
            Set<String> features = admin.describeFeatures()
                    .featureMetadata()
                    .get()
                    .finalizedFeatures()
                    .keySet();
            Throwable unknown = catchThrowableOfType(
                            ExecutionException.class,
                            () -> admin.describeTopics(List.of("never-made"))
                                    .allTopicNames()
                                    .get())
                    .getCause();

            // then
            assertThat(features).contains("share.version", "streams.version", "transaction.version");
            assertThat(unknown).isInstanceOf(UnknownTopicOrPartitionException.class);
        }
    }

    @Test
    @DisplayName("a port in use is named, and the data folder is not touched")
    void shouldRefusePortInUse() throws Exception {
        // given
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            // when
            BrokerStartException refused = startFailure(temp, taken.getLocalPort());

            // then
            assertThat(refused.reason()).isEqualTo(Reason.PORT_IN_USE);
            assertThat(refused).hasMessageContaining(Integer.toString(taken.getLocalPort()));
            assertThat(temp).isEmptyDirectory();
        }
    }

    @Test
    @DisplayName("a folder in use is refused with the process that uses it, and the running broker goes on")
    void shouldRefuseLockedFolder() throws Exception {
        // given
        try (EmbeddedBroker running = EmbeddedBroker.start(temp, 0)) {
            createTopic(running);

            // when
            BrokerStartException refused = startFailure(temp, 0);

            // then
            assertThat(refused.reason()).isEqualTo(Reason.FOLDER_LOCKED);
            assertThat(refused)
                    .hasMessageContaining("process " + ProcessHandle.current().pid());
            assertThatCode(() -> append(running, "still there")).doesNotThrowAnyException();
        }
    }

    @Test
    @DisplayName("a folder in use by another process is refused")
    void shouldRefuseFolderLockedByOtherProcess() throws Exception {
        // given
        Process process = BrokerProcess.start(temp);
        try {
            // when
            BrokerStartException refused = startFailure(temp, 0);

            // then
            assertThat(refused.reason()).isEqualTo(Reason.FOLDER_LOCKED);
            assertThat(refused).hasMessageContaining("process " + process.pid());
        } finally {
            process.destroyForcibly();
            process.waitFor();
        }
    }

    @Test
    @DisplayName("a folder with somebody's files is refused and left alone")
    void shouldRefuseForeignFolder() throws Exception {
        // given
        Files.writeString(temp.resolve("holiday.jpg"), "not ours");

        // when
        BrokerStartException refused = startFailure(temp, 0);

        // then
        assertThat(refused.reason()).isEqualTo(Reason.FOLDER_FOREIGN);
        assertThat(refused).hasMessageContaining("holiday.jpg");
        assertThat(temp).isDirectoryNotContaining("glob:**/*.lock");
    }

    @Test
    @DisplayName("a file in place of the folder is refused")
    void shouldRefuseFileAsFolder() throws Exception {
        // given
        Path file = Files.writeString(temp.resolve("data"), "a file");

        // when
        BrokerStartException refused = startFailure(file, 0);

        // then
        assertThat(refused.reason()).isEqualTo(Reason.FOLDER_FOREIGN);
    }

    @Test
    @DisplayName("a folder that cannot be made is refused")
    void shouldRefuseFolderThatCannotBeMade() throws Exception {
        // given
        Path file = Files.writeString(temp.resolve("file"), "a file");

        // when
        BrokerStartException refused = startFailure(file.resolve("below"), 0);

        // then
        assertThat(refused.reason()).isEqualTo(Reason.FOLDER_NOT_WRITABLE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "meta.properties",
                "recovery-point-offset-checkpoint",
                "__cluster_metadata-0/quorum-state",
                "__cluster_metadata-0/00000000000000000000.log"
            })
    @DisplayName("a damaged data folder is an answer with a reason, not the end of the process")
    void shouldRefuseDamagedFolder(String file) throws Exception {
        // given
        try (EmbeddedBroker broker = EmbeddedBroker.start(temp, 0)) {
            createTopic(broker);
            append(broker, "precious");
        }
        Files.writeString(temp.resolve(file), "what a disk fault leaves behind");

        // when
        BrokerStartException refused = startFailure(temp, 0);

        // then
        assertThat(refused.reason()).isEqualTo(Reason.FOLDER_DAMAGED);
        assertThat(refused).hasMessageContaining(temp.toString()).hasMessageContaining("move it away");
        assertThat(temp.resolve(TOPIC + "-0")).isNotEmptyDirectory();
    }

    @Test
    @DisplayName("a first start that was killed half-way is made good by the next one")
    void shouldFinishHalfDoneFormat() throws Exception {
        // given
        Files.writeString(temp.resolve("bootstrap.checkpoint"), "half");

        // when // then
        try (EmbeddedBroker broker = EmbeddedBroker.start(temp, 0)) {
            createTopic(broker);
            assertThat(records(broker)).isEmpty();
        }
    }

    @Test
    @DisplayName("clients are told to connect to the host that it was given")
    void shouldTellClientsAnotherHost() throws Exception {
        // when
        try (EmbeddedBroker broker = EmbeddedBroker.start(temp, 0, "localhost");
                Admin admin = admin(broker)) {
            // then
            assertThat(admin.describeCluster().nodes().get())
                    .extracting(Node::host)
                    .containsExactly("localhost");
        }
    }

    @Test
    @DisplayName("a second close does nothing, and the folder is free after the first")
    void shouldCloseTwice() throws Exception {
        // given
        EmbeddedBroker broker = EmbeddedBroker.start(temp, 0);

        // when
        broker.close();
        broker.close();

        // then
        EmbeddedBroker.start(temp, 0).close();
    }

    private static BrokerStartException startFailure(Path folder, int port) {
        return catchThrowableOfType(
                BrokerStartException.class,
                () -> EmbeddedBroker.start(folder, port).close());
    }

    private static Admin admin(EmbeddedBroker broker) {
        return Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
    }

    private static String clusterId(EmbeddedBroker broker) throws Exception {
        try (Admin admin = admin(broker)) {
            return admin.describeCluster().clusterId().get();
        }
    }

    private static void createTopic(EmbeddedBroker broker) throws Exception {
        try (Admin admin = admin(broker)) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
        }
    }

    private static void append(EmbeddedBroker broker, String value) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()),
                new StringSerializer(),
                new StringSerializer())) {
            producer.send(new ProducerRecord<>(TOPIC, value)).get();
        }
    }

    private static List<String> records(EmbeddedBroker broker) throws IOException {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()),
                new StringDeserializer(),
                new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(TOPIC, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
            List<String> values = new ArrayList<>();
            while (consumer.position(partition) < end) {
                StreamSupport.stream(consumer.poll(Duration.ofMillis(100)).spliterator(), false)
                        .forEach(record -> values.add(record.value()));
            }
            return values;
        }
    }
}
