package dev.millrace.standalone;

import dev.millrace.agent.topology.ReplySecrets;
import dev.millrace.broker.BrokerUsers;
import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.gateway.access.ApiKey;
import dev.millrace.gateway.access.ApiKeyFile;
import dev.millrace.http.client.InternalSecret;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.schemas.Ids;
import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.standalone.cli.LocalToken;
import dev.millrace.standalone.cli.Terminal;
import dev.millrace.tools.files.OperatorPlaces;
import io.quarkus.runtime.Quarkus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code millrace up}: the broker, then all services in one Quarkus application, until a signal ends it. Everything
 * that can be wrong with the arguments is found before the broker starts, and the broker stops after the services have.
 */
@Command(
        name = "up",
        footerHeading = "%nExamples:%n",
        footer = {
            "  up",
            "  up --port 8081 --kafka-port 9093 --data second",
            "  up --agents agents --tools build/tools.jar --token"
        },
        description = {
            "Runs a whole Millrace in this process: a Kafka broker with its data on disk, the agent, tool, reflection"
                    + " and gateway services. A second start on the same data goes on with what was unfinished. Ctrl-C stops it."
        })
final class UpCommand implements Callable<Integer> {

    /** The broker's part of the data folder. */
    static final String KAFKA_FOLDER = "kafka";

    /** The password of {@link #OWNER} at the brokers, in the data folder. */
    static final String KAFKA_PASSWORD = "kafka-password";

    /** What the tokens of replies are made with, in the data folder. */
    static final String REPLY_SECRET = "reply-secret";

    /** Who has started it, and may do everything. */
    private static final String OWNER = "owner";

    /** What the services may take to stop; requests, model calls and tool calls in flight have ten seconds each. */
    private static final long STOP_LIMIT_SECONDS = 40;

    private static final int MAX_PORT = 65_535;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8080",
            description = "Where HTTP is served (default: ${DEFAULT-VALUE}).")
    private int port = 8080;

    @Option(
            names = "--kafka-port",
            paramLabel = "PORT",
            defaultValue = "9092",
            description = "Where Kafka listens on the loopback address; 0 = any free port (default: ${DEFAULT-VALUE}).")
    private int kafkaPort = 9092;

    @Option(
            names = "--data",
            paramLabel = "FOLDER",
            defaultValue = "./data",
            description = "Where everything is kept; for one Millrace at a time (default: ${DEFAULT-VALUE}).")
    private Path data = Path.of("data");

    @Option(
            names = "--workspace",
            paramLabel = "FOLDER",
            defaultValue = "./workspace",
            description = "The folder that the file tools may see; made with two sample files if it is missing"
                    + " (default: ${DEFAULT-VALUE}).")
    private Path workspace = Path.of("workspace");

    @Option(
            names = "--agents",
            paramLabel = "FOLDER",
            description = "Agents as files, <name>/AGENT.md each; followed while it runs (default: ./agents, which need"
                    + " not be there).")
    private @Nullable Path agents;

    @Option(
            names = "--script",
            paramLabel = "FILE",
            description = "Let the scripted model answer, by this YAML file (default: the model that the environment"
                    + " names, see README; without any, the scripted model with its own script).")
    private @Nullable Path script;

    @Option(
            names = "--mcp",
            paramLabel = "FILE",
            description = "The MCP servers whose tools are to be used, in the form of other MCP hosts"
                    + " (default: ./mcp.json, if it is there).")
    private @Nullable Path mcp;

    @Option(
            names = "--tools",
            paramLabel = "JAR",
            split = ",",
            description = "Jars with Java methods that are tools, or folders of jars (default: none).")
    private List<Path> toolJars = List.of();

    @Option(
            names = "--toolsets",
            paramLabel = "NAME[:PARTITIONS]",
            split = ",",
            description =
                    "Toolsets of workers of your own, whose request topics are to be there, such as orders or"
                            + " orders:3; one partition serves a share group best (default: those of millrace.topics.toolsets).")
    private List<String> toolsets = List.of();

    @Option(
            names = "--token",
            description =
                    "Ask everybody for a login: over HTTP for an API key, as ./millrace keys makes them, over Kafka"
                            + " for a password. The first start makes both, in the data folder (default: nobody is asked).")
    private boolean token;

    @Option(
            names = "--knowledge",
            description =
                    "Run the knowledge service beside it, in a process of its own: documents in which agents and people"
                            + " look things up (default: it does not run).")
    private boolean knowledge;

    @Option(names = "--verbose", description = "Log what the services do, and show stack traces.")
    private boolean verbose;

    private final Terminal terminal;

    UpCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        requireReadable("--script", script);
        requireReadable("--mcp", mcp);
        toolJars.forEach(jar -> requireReadable("--tools", jar));
        requireAgents();
        requireToolsets();
        requirePorts();
        Path dataPath = data.toAbsolutePath().normalize();
        // who starts the same thing twice has to hear of that, and not of its ports
        BrokerCommand.requireFree(dataPath.resolve(KAFKA_FOLDER));
        requireFreePort();
        requireApart();
        Path workspacePath = WorkspaceFolder.prepare(workspace);
        BrokerUsers users = token ? users(dataPath) : null;
        EmbeddedBroker broker = BrokerCommand.start(
                dataPath.resolve(KAFKA_FOLDER), kafkaPort, users == null ? Map.of() : users.broker());
        // all services were in the process that held the data before this one
        broker.endMemberships();
        Map<String, String> kafka = new HashMap<>(users == null ? Map.of() : users.client(OWNER));
        kafka.put("bootstrap.servers", broker.bootstrapServers());
        configure(kafka, dataPath, workspacePath);
        lock(dataPath);
        KnowledgeProcess beside =
                knowledge ? KnowledgeProcess.start(new KnowledgeProcess.Place(kafka, dataPath, workspacePath)) : null;
        if (beside != null) {
            System.setProperty("millrace.gateway.knowledge.url", beside.url());
            System.setProperty("millrace.agent.knowledge.url", beside.url());
            terminal.err().println("millrace: the knowledge service starts; its log is " + beside.log());
        }
        try {
            return serve(broker, beside);
        } finally {
            if (beside != null) {
                beside.close();
            }
        }
    }

    private static void requireReadable(String option, @Nullable Path file) {
        if (file != null && !Files.isReadable(file)) {
            throw new CommandException(
                    ExitCodes.FAILED, option + ": expected a readable file, found none at " + absolute(file) + ".");
        }
    }

    private void requireAgents() {
        if (agents != null && !Files.isDirectory(agents)) {
            throw new CommandException(
                    ExitCodes.FAILED, "--agents: expected a folder, found none at " + absolute(agents) + ".");
        }
    }

    private void requireToolsets() {
        try {
            toolsets.forEach(TopicSettings.Toolset::parse);
        } catch (IllegalArgumentException e) {
            throw new CommandException(
                    ExitCodes.USAGE,
                    String.valueOf(e.getMessage()).replace("millrace.topics.toolsets:", "--toolsets:"));
        }
    }

    /** The tool service looks as well, at more than can be named here, but only after there is a broker. */
    private void requireApart() {
        try {
            OperatorPlaces.requireApart(
                    workspace,
                    Map.of(
                            "the data folder", data,
                            "the folder of agents", Objects.requireNonNullElse(agents, Path.of("agents")),
                            "the file of MCP servers", Objects.requireNonNullElse(mcp, Path.of("mcp.json")),
                            "the configuration in the working folder", Path.of("config")));
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCodes.FAILED, "--workspace: " + e.getMessage() + ".");
        }
    }

    private void requirePorts() {
        if (port < 1 || port > MAX_PORT) {
            throw new CommandException(ExitCodes.USAGE, "--port: expected 1 to " + MAX_PORT + ", found " + port);
        }
        if (kafkaPort < 0 || kafkaPort > MAX_PORT) {
            throw new CommandException(
                    ExitCodes.USAGE, "--kafka-port: expected 0 to " + MAX_PORT + ", found " + kafkaPort);
        }
    }

    /** Quarkus would find out as well, but only after the broker and the services have started. */
    private void requireFreePort() {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            throw new CommandException(
                    ExitCodes.FAILED,
                    "HTTP port " + port + " is in use (" + e.getMessage()
                            + "). Stop what listens there, or choose another one with --port.");
        }
    }

    /** The services are configured as anywhere else; only what differs in one process is set here. */
    private void configure(Map<String, String> kafka, Path dataPath, Path workspacePath) {
        kafka.forEach((key, value) -> System.setProperty("kafka." + key, value));
        System.setProperty("quarkus.http.port", Integer.toString(port));
        System.setProperty("millrace.gateway.agent-url", "http://127.0.0.1:" + port);
        System.setProperty("millrace.tools.agent-url", "http://127.0.0.1:" + port);
        set("millrace.agent.state-dir", dataPath.resolve("agent"));
        set("millrace.agent.projection.state-dir", dataPath.resolve("projection"));
        set("millrace.reflection.state-dir", dataPath.resolve("reflection"));
        set("millrace.tools.workspace", workspacePath);
        set(Standalone.DATA_KEY, dataPath);
        set("millrace.agent.agents-dir", agents);
        set("millrace.llm.scripted.script", script);
        set("millrace.tools.mcp.config", mcp);
        if (!toolJars.isEmpty()) {
            System.setProperty(
                    "millrace.tools.java.jars",
                    toolJars.stream().map(UpCommand::absolute).collect(Collectors.joining(",")));
        }
        if (!toolsets.isEmpty()) {
            System.setProperty("millrace.topics.toolsets", String.join(",", toolsets));
        }
        if (verbose) {
            System.setProperty("quarkus.log.level", "INFO");
        }
    }

    /** What services ask each other is for nobody else; what is for others is for those with a key, if wanted. */
    private void lock(Path dataPath) {
        if (System.getenv("MILLRACE_HTTP_INTERNAL_SECRET") == null) {
            System.setProperty(InternalSecret.KEY, Ids.hash(Ids.random()));
        }
        if (System.getenv("MILLRACE_AGENT_REPLY_SECRET") == null) {
            System.setProperty(ReplySecrets.KEY, secret(dataPath.resolve(REPLY_SECRET)));
        }
        if (!token) {
            return;
        }
        Path file = dataPath.resolve(KeysCommand.FILE);
        System.setProperty("millrace.gateway.auth", "key");
        set("millrace.gateway.auth-keys-file", file);
        try {
            ApiKeyFile keys = new ApiKeyFile(file);
            if (keys.keys().isEmpty()) {
                ApiKey.Fresh first = ApiKey.draw(OWNER, List.of("*:*"), Instant.now(), null);
                Path kept = dataPath.resolve(LocalToken.FILE);
                write(kept, first.secret());
                keys.change(none -> List.of(first.kept()));
                terminal.err()
                        .println(
                                "millrace: whoever calls over HTTP needs a key. The first one may do everything. It is in "
                                        + kept
                                        + (dataPath.equals(LocalToken.DATA.toAbsolutePath())
                                                ? ", where\n./millrace finds it; for others:"
                                                : ".\n./millrace looks in ./data alone, so for it and for others:")
                                        + "\n  export MILLRACE_TOKEN="
                                        + first.secret());
            }
        } catch (IOException e) {
            throw new CommandException(ExitCodes.FAILED, "The file of keys: " + e.getMessage());
        }
    }

    /** Who may do everything over Kafka, and nobody else anything; our own services log in like that as well. */
    private BrokerUsers users(Path dataPath) {
        Path file = dataPath.resolve(KAFKA_PASSWORD);
        BrokerUsers users = new BrokerUsers(Map.of(OWNER, secret(file)), Set.of(OWNER));
        terminal.err()
                .println("millrace: Kafka asks for a login (SASL PLAIN): " + OWNER + ", with the password in " + file);
        return users;
    }

    /**
     * A text that nobody guesses; kept, since workers answer after a restart what they were asked before it, and people
     * do not copy a password each day.
     */
    private static String secret(Path file) {
        try {
            if (Files.notExists(file)) {
                byte[] drawn = new byte[ReplySecrets.MIN_LENGTH];
                new SecureRandom().nextBytes(drawn);
                write(file, HexFormat.of().formatHex(drawn));
            }
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new CommandException(ExitCodes.FAILED, "The secret in the data folder: " + e.getMessage());
        }
    }

    /** For the owner alone to read, and never half. */
    private static void write(Path file, String text) throws IOException {
        Path folder = Files.createDirectories(file.getParent());
        Path next = Files.createTempFile(folder, "." + file.getFileName(), null);
        Files.writeString(next, text);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void set(String key, @Nullable Path path) {
        if (path != null) {
            System.setProperty(key, absolute(path));
        }
    }

    private static String absolute(Path path) {
        return path.toAbsolutePath().normalize().toString();
    }

    private int serve(EmbeddedBroker broker, @Nullable KnowledgeProcess beside) {
        CountDownLatch servicesStopped = new CountDownLatch(1);
        AtomicInteger exitCode = new AtomicInteger();
        AtomicReference<@Nullable Throwable> startFailure = new AtomicReference<>();
        // a signal ends the services in a hook of Quarkus', and they need the broker until the last of them is done
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().name("broker-stop").unstarted(() -> {
                    awaitQuietly(servicesStopped);
                    if (beside != null) {
                        beside.close();
                    }
                    BrokerCommand.stop(broker);
                }));
        broker.failed().thenAccept(fault -> {
            terminal.err()
                    .println("millrace: the broker cannot go on: " + fault.getMessage()
                            + ". Is the disk full? What was acknowledged is kept; the same command goes on with it.");
            Quarkus.asyncExit(ExitCodes.FAILED);
        });
        Quarkus.run(Standalone.class, (code, failure) -> {
            exitCode.set(code);
            startFailure.set(failure);
            servicesStopped.countDown();
        });
        servicesStopped.countDown();
        BrokerCommand.stop(broker);
        Throwable failure = startFailure.get();
        if (failure == null) {
            return exitCode.get();
        }
        if (verbose) {
            failure.printStackTrace(terminal.err());
        }
        throw new CommandException(ExitCodes.FAILED, StartFailures.describe(failure));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            boolean ignored = latch.await(STOP_LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
