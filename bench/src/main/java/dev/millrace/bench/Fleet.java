package dev.millrace.bench;

import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;

/**
 * A whole Millrace to be measured: processes of their own, so that what they cost is not mixed with what the driver
 * costs.
 */
final class Fleet implements AutoCloseable {

    /** How it is divided into processes. */
    enum Mode {
        /** As {@code ./millrace up} runs it: broker and services in one process. */
        ONE,
        /**
         * Broker, agent-service, tool-service and gateway as four processes, with the JVM's own choice of compilers.
         */
        SERVICES;

        /** As it is called on the command line and in results. */
        String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** When the broker counts a record as written. */
    enum Durability {
        /** When it is in the page cache, which is Kafka's own default: replicas make it durable. */
        CACHE,
        /** When it is on disk: every append of every partition is followed by an fsync. */
        FSYNC;

        /** As it is called on the command line and in results. */
        String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Property: the JVM arguments of {@code ./millrace up}, one to a line, as the launcher script knows them. */
    private static final String UP_JVM = "millrace.bench.up-jvm";

    private static final String PARTITIONS = "2";
    /** So many tasks as a workload has in flight may work, so that it is not the limits that are measured. */
    static final Map<String, String> NO_LIMITS = Map.of(
            "MILLRACE_AGENT_ADMISSION_MAX_ACTIVE_TASKS", "1000",
            "MILLRACE_LLM_MAX_CONCURRENT_CALLS", "1000",
            "MILLRACE_AGENT_TASK_MAX_ITERATIONS", "1000",
            "MILLRACE_AGENT_TASK_MAX_TOKENS", "1000000000",
            "MILLRACE_AGENT_COMPACTION_THRESHOLD", "1");

    /** Of a tool-service by itself, which answers a batch before it takes more: a batch of three is its default. */
    private static final String TOOL_CALLS = "64";

    private final Map<String, ServiceProcess> processes = new LinkedHashMap<>();
    private final int brokerPort = FreePort.find();
    private final int gatewayPort = FreePort.find();
    private final Path folder;

    private Fleet(Path folder) {
        this.folder = folder;
    }

    /**
     * Starts one and waits until it takes work.
     *
     * @param folder for its data and logs; what is there already is gone on with
     * @param script what the model answers
     * @param jvm further arguments for each JVM
     */
    static Fleet start(Mode mode, Durability durability, Path folder, Path script, List<String> jvm)
            throws IOException, InterruptedException, ExecutionException {
        Files.createDirectories(folder.resolve("workspace"));
        Fleet fleet = new Fleet(folder);
        try {
            if (mode == Mode.ONE) {
                fleet.startAsOne(script, jvm);
            } else {
                fleet.startServices(script, jvm);
            }
            if (durability == Durability.FSYNC) {
                try (Admin admin = fleet.kafka().admin()) {
                    KafkaClients.flushEveryAppend(admin);
                }
            }
            return fleet;
        } catch (InterruptedException | ExecutionException | RuntimeException | AssertionError e) {
            fleet.close();
            throw e;
        }
    }

    private void startAsOne(Path script, List<String> jvm) {
        ServiceProcess.Builder up = ServiceProcess.standalone(
                "up",
                "--port",
                Integer.toString(gatewayPort),
                "--kafka-port",
                Integer.toString(brokerPort),
                "--data",
                "data",
                "--script",
                script.toString());
        NO_LIMITS.forEach(up::env);
        up.asInProduction();
        System.getProperty(UP_JVM, "").lines().forEach(up::jvm);
        jvm.forEach(up::jvm);
        processes.put("millrace", up.start(folder).awaitReady(ready(gatewayPort)));
    }

    private void startServices(Path script, List<String> jvm) {
        ServiceProcess.Builder broker = ServiceProcess.standalone(
                        "broker", "--port", Integer.toString(brokerPort), "--data", "data")
                .asInProduction();
        jvm.forEach(broker::jvm);
        processes.put("broker", broker.start(folder).awaitOutput("Kafka is ready", ServiceProcess.START_LIMIT));
        int agentPort = FreePort.find();
        int toolsPort = FreePort.find();
        startService(
                "agent-service",
                agentPort,
                jvm,
                Map.of(
                        "MILLRACE_LLM_SCRIPTED_SCRIPT", script.toString(),
                        "MILLRACE_AGENT_STATE_DIR", folder.resolve("agent").toString()));
        startService(
                "tool-service",
                toolsPort,
                jvm,
                Map.of(
                        "MILLRACE_TOOLS_WORKSPACE",
                        folder.resolve("workspace").toString(),
                        "MILLRACE_TOOLS_MAX_CONCURRENT",
                        TOOL_CALLS));
        startService(
                "gateway-service",
                gatewayPort,
                jvm,
                Map.of("MILLRACE_GATEWAY_AGENT_URL", "http://127.0.0.1:" + agentPort));
        for (String name : List.of("agent-service", "tool-service", "gateway-service")) {
            running(name).awaitReady();
        }
    }

    private void startService(String name, int port, List<String> jvm, Map<String, String> environment) {
        ServiceProcess.Builder service = ServiceProcess.service(name)
                .asInProduction()
                .env("KAFKA_BOOTSTRAP_SERVERS", bootstrapServers())
                .env("MILLRACE_TOPICS_CREATE", "true")
                .env("MILLRACE_TOPICS_PARTITIONS", PARTITIONS)
                .env("QUARKUS_HTTP_PORT", Integer.toString(port))
                .env("QUARKUS_HTTP_HOST", "127.0.0.1");
        NO_LIMITS.forEach(service::env);
        environment.forEach(service::env);
        jvm.forEach(service::jvm);
        processes.put(name, service.start(folder));
    }

    private ServiceProcess running(String name) {
        ServiceProcess process = processes.get(name);
        if (process == null) {
            throw new IllegalStateException(name + " was not started");
        }
        return process;
    }

    private static URI ready(int port) {
        return URI.create("http://127.0.0.1:" + port + "/q/health/ready");
    }

    private String bootstrapServers() {
        return "127.0.0.1:" + brokerPort;
    }

    /** Its broker. */
    KafkaClients kafka() {
        return KafkaClients.at(bootstrapServers());
    }

    /** Where its HTTP API is. */
    URI http() {
        return URI.create("http://127.0.0.1:" + gatewayPort);
    }

    Topics topics() {
        return new Topics(Topics.DEFAULT_PREFIX);
    }

    /** What its processes have cost until now. */
    Footprint footprint() {
        Map<String, Long> pids = new LinkedHashMap<>();
        processes.forEach((name, process) -> pids.put(name, process.pid()));
        return Footprint.of(pids);
    }

    /** The process that serves HTTP, which is the only one with {@link Mode#ONE}. */
    long pid() {
        return processes.values().stream().toList().getLast().pid();
    }

    /** Ends all of it at once with SIGKILL; the folder stays. */
    void kill() {
        processes.values().forEach(ServiceProcess::kill);
    }

    @Override
    public void close() {
        // the broker last, so that nobody complains of its absence
        processes.values().stream().toList().reversed().forEach(ServiceProcess::close);
    }
}
