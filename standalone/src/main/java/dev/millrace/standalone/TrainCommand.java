package dev.millrace.standalone;

import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.standalone.cli.Terminal;
import io.quarkus.runtime.Quarkus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * {@code millrace train FOLDER}: what {@code ./millrace build} lets a JVM do that writes an archive for later starts
 * (an AOT cache, or a class data archive). It starts everything, has tasks done for half a minute, and ends. So the
 * archive has the classes of a start, of a task and of the commands, and with JDK 25 the profiles of methods, by which
 * the next start compiles them well at once (JEP 515); of methods that were not busy for long it has none.
 */
@Command(
        name = "train",
        hidden = true,
        description = "Runs everything once in an empty folder and ends, for the JVM to learn what a start takes.")
final class TrainCommand implements Callable<Integer> {

    private static final Duration START_LIMIT = Duration.ofMinutes(2);
    private static final Duration WORKING = Duration.ofSeconds(30);
    private static final int AT_A_TIME = 32;
    /** The model's own script answers it by way of two tools. */
    private static final String QUESTION = "Which files are in the workspace, and what does notes.txt say?";

    @Parameters(paramLabel = "FOLDER", description = "Where data and workspace go; the caller's to delete.")
    private Path folder = Path.of("");

    private final Terminal terminal;

    TrainCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        // two threads that begin to log at the same time wait for each other for ever in JBoss LogManager's
        // initializers, so this one begins before there is another
        LoggerFactory.getLogger(TrainCommand.class).debug("Learning what a start takes");
        int port = freePort();
        CompletableFuture<Integer> asked = new CompletableFuture<>();
        Thread.ofVirtual().name("train").start(() -> {
            try {
                asked.complete(ask("http://127.0.0.1:" + port));
            } catch (InterruptedException | RuntimeException e) {
                asked.completeExceptionally(e);
            } finally {
                Quarkus.asyncExit();
            }
        });
        int ended = Main.run(
                terminal,
                "up",
                "--port",
                Integer.toString(port),
                "--kafka-port",
                "0",
                "--data",
                folder.resolve("data").toString(),
                "--workspace",
                folder.resolve("workspace").toString());
        return ended == 0 ? asked.getNow(ExitCodes.FAILED) : ended;
    }

    private int ask(String url) throws InterruptedException {
        if (!new Readiness(url).await(START_LIMIT)) {
            return ExitCodes.FAILED;
        }
        work(URI.create(url + "/v1/tasks?wait=10s"));
        Main.run(terminal, "tasks", "--url", url);
        return Main.run(terminal, "ask", "--url", url, "--timeout", "1m", QUESTION);
    }

    /** Has tasks done, several at a time; what becomes of them does not matter. */
    private static void work(URI tasks) {
        HttpRequest start = HttpRequest.newBuilder(tasks)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"text\":\"" + QUESTION + "\"}"))
                .build();
        long end = System.nanoTime() + WORKING.toNanos();
        try (HttpClient http = HttpClient.newHttpClient();
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < AT_A_TIME; i++) {
                Future<?> unused = clients.submit(() -> {
                    while (System.nanoTime() - end < 0) {
                        http.send(start, HttpResponse.BodyHandlers.discarding());
                    }
                    return null;
                });
            }
        }
    }

    private static int freePort() {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        } catch (IOException e) {
            throw new CommandException(ExitCodes.FAILED, "Cannot find a free port: " + e.getMessage());
        }
    }
}
