package dev.millrace.bench.crash;

import dev.millrace.bench.KafkaClients;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.config.ConfigResource;
import org.jspecify.annotations.Nullable;

/**
 * One broker or three, two agent-services, and one of each other service, as processes of this machine. Each service
 * reaches a broker by a {@link Link} of its own: brokers call themselves {@code localhost}, and each service is told
 * another loopback address for that name. Whoever is not told, such as the audit, reaches the brokers themselves. Not
 * thread-safe.
 */
final class Installation implements AutoCloseable {

    static final int PARTITIONS = 4;

    private static final String LOOPBACK = "127.0.0.1";
    private static final Duration START_LIMIT = Duration.ofMinutes(3);
    private static final Duration OPEN_LIMIT = Duration.ofSeconds(20);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(40);
    /** The last byte of the first service's loopback address; 127.0.0.1 is the broker's. */
    private static final int FIRST_ADDRESS = 11;

    private static final String SCRIPT = """
            latencyMs: { min: 50, max: 450 }
            rules:
              - user: '(?s)^\\[Reflection\\]'
                latencyMs: 20
                text: Nothing worth remembering.
              - user: 'effect (?<key>\\S+)'
                steps:
                  - calls:
                      - tool: %s
                        arguments: { key: "{{user.key}}" }
                      - tool: memory_append
                        arguments: { path: facts/memory.md, entry: "- {{user.key}}" }
                  - text: "Done: {{user.key}}"
            """.formatted(EffectTool.NAME);

    /**
     * A group that has settings of its own has none of the broker's any more (Kafka 4.2): the last two are the
     * broker's.
     */
    private static final List<ConfigEntry> GROUP_SETTINGS = List.of(
            new ConfigEntry("streams.num.standby.replicas", "1"),
            new ConfigEntry("streams.session.timeout.ms", "5000"),
            new ConfigEntry("streams.heartbeat.interval.ms", "500"));

    private final Path folder;
    private final Topics topics = new Topics(Topics.DEFAULT_PREFIX);
    private final Health health = new Health();
    private final Map<Part, Integer> ports = new EnumMap<>(Part.class);
    private final Map<Part, ServiceProcess> running = new EnumMap<>(Part.class);
    private final Map<Part, List<Link>> links = new EnumMap<>(Part.class);
    private final List<String> restarts = new ArrayList<>();
    private final boolean linked;
    private final List<Part> brokers;
    private final List<Integer> controllerPorts;
    private @Nullable StateDisk disk;

    /** Nothing runs yet. */
    Installation(Path folder, int brokers) throws IOException {
        this.folder = Files.createDirectories(folder.toAbsolutePath());
        this.linked = hasOwnAddresses();
        this.brokers = Part.BROKERS.subList(0, brokers);
        this.controllerPorts =
                this.brokers.stream().map(broker -> FreePort.find()).toList();
        parts().forEach(part -> ports.put(part, FreePort.find()));
    }

    /** Those that there are. */
    List<Part> brokers() {
        return brokers;
    }

    /** All processes, the brokers first. */
    List<Part> parts() {
        return Stream.of(brokers, Part.SERVICES).flatMap(List::stream).toList();
    }

    /** What happens to whom. */
    String describe(Fault fault) {
        return switch (fault.kind()) {
            case KILL_AGENT, PAUSE_AGENT, HOLD_AGENT, CUT_AGENT ->
                fault.kind().label() + " (" + fault.among(Part.AGENTS).label() + ")";
            case KILL_BROKER, RESTART_BROKER, PAUSE_BROKER ->
                fault.kind().label() + " (" + fault.among(brokers).label() + ")";
            default -> fault.kind().label();
        };
    }

    /** What this machine allows. */
    boolean allows(FaultKind kind) {
        return switch (kind.needs()) {
            case NOTHING -> true;
            case OWN_ADDRESSES -> linked;
            case OWN_DISK -> disk != null;
        };
    }

    /** Gives the second agent-service a disk of its own, if that is allowed here. */
    void mountDisk() throws IOException, InterruptedException {
        disk = StateDisk.mount(of(Part.AGENT_2).resolve("state")).orElse(null);
    }

    /** Starts everything, and returns when all of it is ready. */
    void start() throws IOException, InterruptedException, ExecutionException {
        Files.createDirectories(effects());
        Files.writeString(script(), SCRIPT);
        writeToolJar();
        for (Part broker : brokers) {
            launch(broker);
        }
        for (Part broker : brokers) {
            process(broker).awaitOutput(ClusterNode.READY, START_LIMIT);
        }
        KafkaClients kafka = KafkaClients.at(bootstrapServers());
        TopicSetup.ensure(
                kafka.settings(),
                topics,
                new TopicSettings(PARTITIONS, TopicSettings.BROKER_DEFAULT, true),
                START_LIMIT);
        try (Admin admin = kafka.admin()) {
            admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(ConfigResource.Type.GROUP, topics.prefix() + "agent"),
                            GROUP_SETTINGS.stream()
                                    .map(entry -> new AlterConfigOp(entry, AlterConfigOp.OpType.SET))
                                    .toList()))
                    .all()
                    .get();
        }
        for (Part part : Part.SERVICES) {
            launch(part);
        }
        for (Part part : Part.SERVICES) {
            awaitReady(part);
        }
    }

    /** Starts a part that does not run, and returns at once. */
    void launch(Part part) throws IOException {
        Path own = Files.createDirectories(of(part));
        if (running.put(part, builder(part).start(own)) != null) {
            throw new IllegalStateException(part + " runs already");
        }
    }

    /**
     * The same as soon as the journal has a record more. Whoever reads uncommitted records sees it before its
     * transaction is committed, for as long as commits are gathered (some 20 ms).
     */
    void killBeforeCommit(Collection<Part> parts) {
        try (KafkaConsumer<byte[], byte[]> journal =
                KafkaClients.at(bootstrapServers()).follower(topics.journal(), "read_uncommitted")) {
            long deadline = System.nanoTime() + OPEN_LIMIT.toNanos();
            journal.poll(OPEN_LIMIT); // from here on each record is new
            while (journal.poll(OPEN_LIMIT).isEmpty()) { // as it is for the end of a transaction, too
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError("expected records in the journal within " + OPEN_LIMIT + ", found none");
                }
            }
            kill(parts);
        }
    }

    /** SIGKILL for all of these, one right after the other. */
    void kill(Collection<Part> parts) {
        for (Part part : parts) {
            // no command, which would take milliseconds to start
            ProcessHandle.of(process(part).pid()).ifPresent(ProcessHandle::destroyForcibly);
        }
        for (Part part : parts) {
            take(part).close();
        }
    }

    /** SIGTERM, and waits for the end. */
    void stop(Part part) {
        ServiceProcess process = take(part);
        process.stop(STOP_LIMIT);
        process.close();
    }

    /** Sends a signal, such as {@code STOP}. */
    void signal(Part part, String name) throws InterruptedException {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(process(part).pid()))
                    .redirectErrorStream(true)
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new IllegalStateException("no command kill", e);
        }
    }

    /** The network between a service and the brokers. */
    List<Link> links(Part service) {
        return Objects.requireNonNull(links.get(service), "no links");
    }

    /** The disk with the state of {@link Part#AGENT_2}. */
    StateDisk disk() {
        return Objects.requireNonNull(disk, "no disk");
    }

    /** Waits until a service is ready. */
    void awaitReady(Part part) {
        process(part).awaitReady();
    }

    /** Why a part does not do its work; empty if it does, as far as it knows. */
    Optional<String> notReady(Part part) throws InterruptedException {
        if (!process(part).isAlive()) {
            return Optional.of("it has ended");
        }
        return part.isBroker()
                ? Optional.empty()
                : health.notReady(process(part)).map(why -> part.label() + ": " + why);
    }

    /** Starts again what has ended or says that it needs a restart, as an orchestrator would, and notes it. */
    void supervise() throws IOException, InterruptedException {
        for (Part part : List.copyOf(running.keySet())) {
            if (!process(part).isAlive()) {
                restarts.add(part.label() + " had ended");
                take(part).close();
                launch(part);
            } else if (!part.isBroker()) {
                Optional<String> notLive = health.notLive(process(part));
                if (notLive.isPresent()) {
                    restarts.add(part.label() + " was not live: " + notLive.get());
                    kill(List.of(part));
                    launch(part);
                }
            }
        }
    }

    /** What {@link #supervise} had to start again since this was asked for the last time. */
    List<String> takeRestarts() {
        List<String> taken = List.copyOf(restarts);
        restarts.clear();
        return taken;
    }

    Topics topics() {
        return topics;
    }

    /** The brokers themselves, past all links. */
    String bootstrapServers() {
        return bootstrapServers(LOOPBACK);
    }

    private String bootstrapServers(String host) {
        return brokers.stream().map(broker -> host + ':' + port(broker)).collect(Collectors.joining(","));
    }

    URI gateway() {
        return http(Part.GATEWAY, "");
    }

    /** Where the effects of {@link EffectTool} are. */
    Path effects() {
        return folder.resolve("effects");
    }

    /** What says which model calls were made. */
    CallLogs callLogs() {
        return new CallLogs(List.of(callLog(Part.AGENT_1), callLog(Part.AGENT_2), callLog(Part.REFLECTION)));
    }

    @Override
    public void close() {
        // in this order, so that nobody waits for a broker that is gone
        running.values().forEach(ServiceProcess::close);
        links.values().forEach(ofService -> ofService.forEach(Link::close));
        if (disk != null) {
            disk.close();
        }
    }

    private ServiceProcess.Builder builder(Part part) throws IOException {
        if (part.isBroker()) {
            return broker(part);
        }
        ServiceProcess.Builder builder = ServiceProcess.service(module(part))
                .env("KAFKA_BOOTSTRAP_SERVERS", bootstrapServers(advertisedHost()))
                .env("MILLRACE_TOPICS_CREATE", "true")
                .env("MILLRACE_TOPICS_PARTITIONS", Integer.toString(PARTITIONS))
                .env("QUARKUS_HTTP_PORT", Integer.toString(port(part)))
                .env("QUARKUS_HTTP_HOST", LOOPBACK);
        if (linked) {
            builder.jvm("-Djdk.net.hosts.file=" + hosts(part));
        }
        switch (part) {
            case AGENT_1, AGENT_2 ->
                builder.env(
                                "MILLRACE_AGENT_STATE_DIR",
                                of(part).resolve("state").toString())
                        .env(
                                "MILLRACE_AGENT_PROJECTION_STATE_DIR",
                                of(part).resolve("projection").toString())
                        .env("MILLRACE_AGENT_REFLECTION_ENABLED", "true")
                        .env("MILLRACE_LLM_MAX_CONCURRENT_CALLS", "16")
                        .env("MILLRACE_LLM_SCRIPTED_SCRIPT", script().toString())
                        .env("MILLRACE_LLM_SCRIPTED_CALL_LOG", callLog(part).toString());
            case REFLECTION ->
                builder.env(
                                "MILLRACE_REFLECTION_STATE_DIR",
                                of(part).resolve("state").toString())
                        .env("MILLRACE_LLM_SCRIPTED_SCRIPT", script().toString())
                        .env("MILLRACE_LLM_SCRIPTED_CALL_LOG", callLog(part).toString());
            case TOOLS ->
                builder.env(
                                "MILLRACE_TOOLS_WORKSPACE",
                                Files.createDirectories(of(part).resolve("workspace"))
                                        .toString())
                        .env("MILLRACE_TOOLS_JAVA_JARS", toolJar().toString())
                        .jvm("-D" + EffectTool.FOLDER + '=' + effects());
            case GATEWAY ->
                builder.env("MILLRACE_GATEWAY_AGENT_URL", http(Part.AGENT_1, "").toString());
            case BROKER, BROKER_2, BROKER_3 -> throw new IllegalArgumentException("a broker is no service");
        }
        return builder;
    }

    private String advertisedHost() {
        return linked ? "localhost" : LOOPBACK;
    }

    private ServiceProcess.Builder broker(Part part) {
        if (brokers.size() == 1) {
            return ServiceProcess.standalone(
                    "broker",
                    "--port",
                    Integer.toString(port(part)),
                    "--data",
                    of(part).toString(),
                    "--advertised-host",
                    advertisedHost());
        }
        return ServiceProcess.mainClass(
                ClusterNode.class,
                Integer.toString(brokers.indexOf(part) + 1),
                of(part).resolve("kafka").toString(),
                advertisedHost(),
                brokers.stream().map(broker -> Integer.toString(port(broker))).collect(Collectors.joining(",")),
                controllerPorts.stream().map(String::valueOf).collect(Collectors.joining(",")));
    }

    private static String module(Part service) {
        return switch (service) {
            case AGENT_1, AGENT_2 -> "agent-service";
            case TOOLS -> "tool-service";
            case REFLECTION -> "reflection-service";
            case GATEWAY -> "gateway-service";
            case BROKER, BROKER_2, BROKER_3 -> throw new IllegalArgumentException("a broker is no service");
        };
    }

    /** What the service is told to be {@code localhost}. Makes the link at the first time. */
    private Path hosts(Part service) throws IOException {
        InetAddress address = address(service);
        if (!links.containsKey(service)) {
            List<Link> ofService = new ArrayList<>();
            for (Part broker : brokers) {
                ofService.add(new Link(
                        address, port(broker), new InetSocketAddress(InetAddress.getLoopbackAddress(), port(broker))));
            }
            links.put(service, ofService);
        }
        Path hosts = of(service).resolve("hosts");
        Files.writeString(
                hosts,
                address.getHostAddress() + " localhost\n" + LOOPBACK + ' '
                        + InetAddress.getLocalHost().getHostName() + "\n");
        return hosts;
    }

    private static InetAddress address(Part service) throws IOException {
        return InetAddress.getByAddress(
                new byte[] {127, 0, 0, (byte) (FIRST_ADDRESS + Part.SERVICES.indexOf(service))});
    }

    /** Linux answers on all of 127.0.0.0/8; others only on 127.0.0.1, unless told otherwise. */
    private static boolean hasOwnAddresses() {
        try (java.net.ServerSocket probe = new java.net.ServerSocket()) {
            probe.bind(new InetSocketAddress(address(Part.GATEWAY), 0));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private void writeToolJar() throws IOException {
        String entry = EffectTool.class.getName().replace('.', '/') + ".class";
        try (InputStream source =
                        Objects.requireNonNull(EffectTool.class.getClassLoader().getResourceAsStream(entry));
                JarOutputStream jar = new JarOutputStream(Files.newOutputStream(toolJar()))) {
            jar.putNextEntry(new ZipEntry(entry));
            source.transferTo(jar);
            jar.closeEntry();
        }
    }

    private URI http(Part service, String path) {
        return URI.create("http://" + LOOPBACK + ":" + port(service) + path);
    }

    private ServiceProcess process(Part part) {
        return Objects.requireNonNull(running.get(part), () -> part + " does not run");
    }

    private ServiceProcess take(Part part) {
        return Objects.requireNonNull(running.remove(part), () -> part + " does not run");
    }

    private int port(Part part) {
        return Objects.requireNonNull(ports.get(part), part.label());
    }

    private Path of(Part part) {
        return folder.resolve(part.label());
    }

    private Path script() {
        return folder.resolve("script.yaml");
    }

    private Path toolJar() {
        return folder.resolve("effect-tool.jar");
    }

    private Path callLog(Part part) {
        return folder.resolve("calls-" + part.label() + ".log");
    }
}
