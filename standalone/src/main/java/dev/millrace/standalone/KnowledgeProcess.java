package dev.millrace.standalone;

import dev.millrace.http.client.InternalSecret;
import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.ExitCodes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge service of {@code up --knowledge}: an application and a process of its own, since its jars are as
 * large as all others together. It ends with this one, however this one ends.
 */
final class KnowledgeProcess implements AutoCloseable {

    /** Where the launcher has put the application. */
    static final String JAR = "millrace.knowledge-jar";

    private static final long STOP_LIMIT_SECONDS = 12;

    private final Process process;
    private final String url;
    private final Path log;

    /**
     * What it is to work with.
     *
     * @param kafka how a client connects, by Kafka's keys
     */
    record Place(Map<String, String> kafka, Path data, Path workspace) {}

    private KnowledgeProcess(Process process, String url, Path log) {
        this.process = process;
        this.url = url;
        this.log = log;
    }

    /** Starts it, and does not wait for it. */
    static KnowledgeProcess start(Place place) {
        String jar = System.getProperty(JAR);
        if (jar == null || !Files.isReadable(Path.of(jar))) {
            throw new CommandException(
                    ExitCodes.FAILED,
                    "--knowledge: the knowledge service is not built. Start with ./millrace up --knowledge, which builds it.");
        }
        Path folder = place.data().resolve("knowledge");
        Path log = folder.resolve("log");
        try {
            Files.createDirectories(folder);
            int port = freePort();
            ProcessBuilder command = new ProcessBuilder(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:+UseSerialGC",
                    "-Xmx512m",
                    "--enable-native-access=ALL-UNNAMED",
                    "-jar",
                    jar));
            Map<String, String> environment = command.environment();
            place.kafka()
                    .forEach((key, value) -> environment.put(
                            "KAFKA_" + key.toUpperCase(Locale.ROOT).replace('.', '_'), value));
            environment.put("QUARKUS_HTTP_PORT", Integer.toString(port));
            environment.put("QUARKUS_MANAGEMENT_PORT", Integer.toString(freePort()));
            environment.put("MILLRACE_TOPICS_CREATE", "true");
            environment.putIfAbsent("MILLRACE_TOPICS_PARTITIONS", "2");
            environment.put("MILLRACE_KNOWLEDGE_STATE_DIR", folder.toString());
            environment.put("MILLRACE_KNOWLEDGE_WORKSPACE", place.workspace().toString());
            environment.put(
                    "MILLRACE_KNOWLEDGE_WITH_PROCESS",
                    Long.toString(ProcessHandle.current().pid()));
            // models that were configured on the command line rather than in the environment
            @Nullable String script = System.getProperty("millrace.llm.scripted.script");
            if (script != null) {
                environment.put("MILLRACE_LLM_SCRIPTED_SCRIPT", script);
            }
            @Nullable String secret = System.getProperty(InternalSecret.KEY);
            if (secret != null) {
                environment.put("MILLRACE_HTTP_INTERNAL_SECRET", secret);
            }
            Process started = command.redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.to(log.toFile()))
                    .start();
            return new KnowledgeProcess(started, "http://127.0.0.1:" + port, log);
        } catch (IOException e) {
            throw new CommandException(ExitCodes.FAILED, "--knowledge: the knowledge service does not start: " + e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }

    /** Where it answers. */
    String url() {
        return url;
    }

    /** What it has to say. */
    Path log() {
        return log;
    }

    /** Ends it, and waits until it has. A second call does nothing. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
