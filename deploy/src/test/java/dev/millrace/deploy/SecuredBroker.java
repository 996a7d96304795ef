package dev.millrace.deploy;

import static dev.millrace.deploy.Manifests.name;
import static dev.millrace.deploy.Manifests.stream;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.broker.BrokerUsers;
import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.testing.FreePort;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialAlteration;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.Resource;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.utils.SecurityUtils;

/**
 * A broker as manifests ask Strimzi for one: TLS, a login by SCRAM, the topics, and for each user what it is allowed and
 * nothing else; or one with another way to log in. {@link Decisions} has what it was asked.
 */
final class SecuredBroker implements AutoCloseable {

    private static final String ADMINISTRATOR = "administrator";
    private static final String STORE_PASSWORD = "of-a-test";
    private static final int ITERATIONS = 4096;

    private final EmbeddedBroker broker;
    private final Path certificate;
    private final Map<String, String> passwords = new TreeMap<>();
    private final List<AclBinding> lines = new ArrayList<>();
    private final Map<String, Object> administrator;
    private final Admin admin;

    private SecuredBroker(EmbeddedBroker broker, Path certificate, Map<String, Object> administrator) {
        this.broker = broker;
        this.certificate = certificate;
        this.administrator = Map.copyOf(administrator);
        this.admin = Admin.create(administrator);
    }

    /** Starts one on a free port. */
    static SecuredBroker start(Path folder) throws Exception {
        return start(folder, Map.of());
    }

    /**
     * Starts one on a free port.
     *
     * @param more settings of the broker, which count more than its own
     */
    static SecuredBroker start(Path folder, Map<String, String> more) throws Exception {
        Path store = key(folder, "broker");
        Path certificate = certificate(folder, "broker");
        Map<String, String> settings = new HashMap<>(Map.of(
                "listener.security.protocol.map",
                "PLAINTEXT:SASL_SSL,CONTROLLER:SASL_PLAINTEXT",
                "listener.name.plaintext.sasl.enabled.mechanisms",
                "PLAIN,SCRAM-SHA-512",
                "listener.name.plaintext.scram-sha-512.sasl.jaas.config",
                "org.apache.kafka.common.security.scram.ScramLoginModule required;"));
        settings.putAll(more);
        BrokerUsers users = users();
        Map<String, Object> administrator = new HashMap<>(users.client(ADMINISTRATOR));
        administrator.put("security.protocol", "SASL_SSL");
        return start(folder, users, store, certificate, settings, administrator);
    }

    /** Starts one that knows its clients by their certificates: those of these users, which are in {@link #pem}. */
    static SecuredBroker startWithCertificates(Path folder, List<String> names) throws Exception {
        Path store = key(folder, "broker");
        StringBuilder known = new StringBuilder(Files.readString(certificate(folder, "broker")));
        for (String name :
                Stream.concat(Stream.of(ADMINISTRATOR), names.stream()).toList()) {
            key(folder, name);
            Path certificate = certificate(folder, name);
            known.append(Files.readString(certificate));
            Files.writeString(pem(folder, name), privateKey(folder, name) + Files.readString(certificate));
        }
        Path trusted = Files.writeString(folder.resolve("ca.crt"), known);
        Map<String, String> settings = Map.of(
                "listener.security.protocol.map",
                "PLAINTEXT:SSL,CONTROLLER:SASL_PLAINTEXT",
                "ssl.client.auth",
                "required",
                "ssl.principal.mapping.rules",
                "RULE:^CN=(.*)$/$1/",
                "super.users",
                "User:broker;User:" + ADMINISTRATOR);
        Map<String, Object> administrator = Map.of(
                "security.protocol",
                "SSL",
                "ssl.keystore.type",
                "PEM",
                "ssl.keystore.location",
                pem(folder, ADMINISTRATOR).toString());
        return start(folder, users(), store, trusted, settings, administrator);
    }

    private static BrokerUsers users() {
        return new BrokerUsers(Map.of(ADMINISTRATOR, UUID.randomUUID().toString()), Set.of(ADMINISTRATOR));
    }

    private static SecuredBroker start(
            Path folder,
            BrokerUsers users,
            Path store,
            Path trusted,
            Map<String, String> more,
            Map<String, Object> administrator)
            throws Exception {
        Map<String, String> settings = new HashMap<>(users.broker());
        settings.putAll(Map.of(
                "ssl.keystore.location",
                store.toString(),
                "ssl.keystore.password",
                STORE_PASSWORD,
                "ssl.truststore.type",
                "PEM",
                "ssl.truststore.location",
                trusted.toString(),
                "authorizer.class.name",
                Decisions.class.getName()));
        settings.putAll(more);
        Decisions.forget();
        EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("kafka"), FreePort.find(), settings);
        Map<String, Object> client = new HashMap<>(administrator);
        client.putAll(Map.of(
                "ssl.truststore.type",
                "PEM",
                "ssl.truststore.location",
                trusted.toString(),
                "bootstrap.servers",
                broker.bootstrapServers()));
        return new SecuredBroker(broker, trusted, client);
    }

    /** Where the key and the certificate of a user are. */
    static Path pem(Path folder, String user) {
        return folder.resolve(user + ".pem");
    }

    /** Makes a key of this name with a certificate that it has signed itself, and returns its store. */
    private static Path key(Path folder, String name) throws IOException, InterruptedException {
        Path store = folder.resolve(name + ".p12");
        keytool(
                store,
                ("-genkeypair -alias " + name + " -keyalg EC -dname CN=" + name + " -ext san=ip:127.0.0.1 -validity 2")
                        .split(" "));
        return store;
    }

    private static Path certificate(Path folder, String name) throws IOException, InterruptedException {
        Path certificate = folder.resolve(name + ".crt");
        keytool(folder.resolve(name + ".p12"), "-exportcert", "-rfc", "-alias", name, "-file", certificate.toString());
        return certificate;
    }

    private static String privateKey(Path folder, String name) throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(folder.resolve(name + ".p12").toFile(), STORE_PASSWORD.toCharArray());
        byte[] key = store.getKey(name, STORE_PASSWORD.toCharArray()).getEncoded();
        return "-----BEGIN PRIVATE KEY-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key)
                + "\n-----END PRIVATE KEY-----\n";
    }

    /** Makes the topics and the users of these manifests, as Strimzi's operators do. */
    void apply(Manifests manifests) throws Exception {
        List<NewTopic> topics = manifests
                .of("KafkaTopic")
                .map(topic -> {
                    Map<String, String> config = new TreeMap<>();
                    topic.at("/spec/config")
                            .properties()
                            .forEach(entry ->
                                    config.put(entry.getKey(), entry.getValue().asText()));
                    // of replicas that brokers have to have in common this one has one
                    config.remove("min.insync.replicas");
                    return new NewTopic(
                                    name(topic),
                                    Optional.of(topic.at("/spec/partitions").asInt()),
                                    Optional.empty())
                            .configs(config);
                })
                .toList();
        admin.createTopics(topics).all().get();
        List<UserScramCredentialAlteration> credentials = new ArrayList<>();
        List<AclBinding> more = new ArrayList<>();
        manifests.of("KafkaUser").forEach(user -> {
            String password = UUID.randomUUID().toString();
            passwords.put(name(user), password);
            credentials.add(new UserScramCredentialUpsertion(
                    name(user), new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS), password));
            stream(user.at("/spec/authorization/acls"))
                    .flatMap(rule -> bindings(name(user), rule).stream())
                    .forEach(more::add);
        });
        admin.alterUserScramCredentials(credentials).all().get();
        admin.createAcls(more).all().get();
        lines.addAll(more);
        // the controller has them before the broker does
        await().until(() -> admin.describeUserScramCredentials(List.copyOf(passwords.keySet()))
                        .all()
                        .toCompletionStage()
                        .handle((there, missing) -> missing == null)
                        .toCompletableFuture()
                        .get()
                && admin.describeAcls(AclBindingFilter.ANY).values().get().containsAll(lines));
    }

    private static List<AclBinding> bindings(String user, JsonNode rule) {
        ResourceType type =
                SecurityUtils.resourceType(pascalCase(rule.at("/resource/type").asText()));
        ResourcePattern pattern = type == ResourceType.CLUSTER
                ? new ResourcePattern(type, Resource.CLUSTER_NAME, PatternType.LITERAL)
                : new ResourcePattern(
                        type,
                        rule.at("/resource/name").asText(),
                        rule.at("/resource/patternType").asText().equals("prefix")
                                ? PatternType.PREFIXED
                                : PatternType.LITERAL);
        return stream(rule.path("operations"))
                .map(operation -> SecurityUtils.operation(operation.asText()))
                .map(operation -> binding(user, pattern, operation))
                .toList();
    }

    private static AclBinding binding(String user, ResourcePattern pattern, AclOperation operation) {
        return new AclBinding(pattern, new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW));
    }

    /** {@code transactionalId} as Kafka's tools write it. */
    private static String pascalCase(String type) {
        return type.substring(0, 1).toUpperCase(Locale.ROOT) + type.substring(1);
    }

    /** All that anybody is allowed, an operation each. */
    List<AclBinding> lines() {
        return List.copyOf(lines);
    }

    Admin admin() {
        return admin;
    }

    /** How a Kafka client connects as one who may do everything. */
    Map<String, Object> administrator() {
        return administrator;
    }

    String bootstrapServers() {
        return broker.bootstrapServers();
    }

    /** The file by which clients know the broker. */
    Path certificate() {
        return certificate;
    }

    /** What Strimzi's Secret of the user has as {@code sasl.jaas.config}. */
    String login(String user) {
        return "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"%s\" password=\"%s\";"
                .formatted(user, passwords.get(user));
    }

    /** How a Kafka client connects as this user. */
    Map<String, Object> client(String user) {
        return Map.of(
                "bootstrap.servers",
                bootstrapServers(),
                "security.protocol",
                "SASL_SSL",
                "sasl.mechanism",
                "SCRAM-SHA-512",
                "sasl.jaas.config",
                login(user),
                "ssl.truststore.type",
                "PEM",
                "ssl.truststore.location",
                certificate.toString());
    }

    @Override
    public void close() {
        admin.close();
        broker.close();
    }

    private static void keytool(Path store, String... args) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(List.of(args));
        command.addAll(List.of(
                "-keystore", store.toString(), "-storetype", "PKCS12", "-storepass", STORE_PASSWORD, "-noprompt"));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + printed);
        }
    }
}
