package dev.millrace.bench;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The processes of a peer, with a folder for their data and logs. They end with this JVM at the latest. */
final class PeerProcesses implements AutoCloseable {

    private static final Duration START_LIMIT = Duration.ofMinutes(2);
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Path folder;
    private final Map<String, Process> processes = new LinkedHashMap<>();

    PeerProcesses() throws IOException {
        folder = Files.createTempDirectory("millrace-bench-");
    }

    Path folder() {
        return folder;
    }

    /** Starts one, whose output goes to a log. */
    Process start(String name, List<String> command, Map<String, String> environment) throws IOException {
        return start(name, command, environment, Redirect.appendTo(log(name)));
    }

    /** Starts one that can be talked with on standard input and output. */
    Process startPiped(String name, List<String> command) throws IOException {
        return start(name, command, Map.of(), Redirect.PIPE);
    }

    private Process start(String name, List<String> command, Map<String, String> environment, Redirect output)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectError(Redirect.appendTo(log(name)))
                .redirectOutput(output);
        builder.environment().putAll(environment);
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(process::destroyForcibly));
        processes.put(name, process);
        return process;
    }

    private File log(String name) {
        return folder.resolve(name + ".log").toFile();
    }

    /** Sends a request again and again until it is answered with 2xx. */
    void awaitAnswer(HttpRequest request) throws InterruptedException {
        long deadline = System.nanoTime() + START_LIMIT.toNanos();
        try (HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            while (status(client, request) / 100 != 2) {
                if (System.nanoTime() > deadline || !processes.values().stream().allMatch(Process::isAlive)) {
                    throw new IllegalStateException("expected " + request.uri() + " to answer within " + START_LIMIT
                            + ", and " + processes.keySet() + " to run");
                }
                Thread.sleep(PAUSE);
            }
        }
    }

    private static int status(HttpClient client, HttpRequest request) throws InterruptedException {
        try {
            return client.send(request, BodyHandlers.discarding()).statusCode();
        } catch (IOException e) {
            return 0; // does not listen yet
        }
    }

    static URI local(int port, String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    /** Their ids, by name. */
    Map<String, Long> pids() {
        Map<String, Long> pids = new LinkedHashMap<>();
        processes.forEach((name, process) -> pids.put(name, process.pid()));
        return pids;
    }

    @Override
    public void close() {
        for (Process process : processes.values().stream().toList().reversed()) {
            process.destroyForcibly();
            try {
                process.waitFor();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        Folders.delete(folder);
    }
}
