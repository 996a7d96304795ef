package dev.millrace.tools.mcp;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process of a server that talks in lines over its standard input and output. It gets only the variables that every
 * program needs, and what is configured: this service's own secrets are none of its business. It ends with
 * {@link #close}, and also when this process is killed, since its standard input ends then.
 */
final class ServerProcess implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(McpTools.class);
    private static final int MAX_LINE_BYTES = 16 * 1024 * 1024;
    /** Of a line on its standard error, which is for people; what is beyond is passed over. */
    static final int MAX_ERROR_LINE_BYTES = 8_192;

    private static final int LAST_WORDS = 8;
    private static final int MAX_WORDS_LENGTH = 300;
    private static final Duration POLITE = Duration.ofSeconds(2);
    private static final Duration FIRM = Duration.ofSeconds(1);

    /** What programs need to run at all, to find their home, and to reach the network from where we are. */
    private static final Set<String> PASSED_ON = Set.of(
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "LANG",
            "TZ",
            "TMPDIR",
            "TEMP",
            "TMP",
            "PATHEXT",
            "SYSTEMROOT",
            "SYSTEMDRIVE",
            "COMSPEC",
            "APPDATA",
            "LOCALAPPDATA",
            "USERPROFILE",
            "PROGRAMFILES",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "NODE_EXTRA_CA_CERTS");

    private static final List<String> PASSED_ON_PREFIXES = List.of("LC_", "XDG_", "NPM_CONFIG_");

    /** In the names of variables: the keys of registries are the operator's, as those of models are. */
    private static final List<String> CREDENTIALS =
            List.of("AUTH", "TOKEN", "PASSWORD", "SECRET", "KEY", "CERT", "OTP");

    private final String name;
    private final Process process;
    private final Deque<String> lastWords = new ArrayDeque<>();
    private final CompletableFuture<String> ended = new CompletableFuture<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    // one thread writes, so that a server that does not read holds up no reader of its output
    private final ExecutorService writer;

    private ServerProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.writer = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("mcp-" + name + "-in").factory());
    }

    /** Starts the process; {@link #read} begins to take what it says. */
    static ServerProcess start(McpServer.Stdio server) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(server.command());
        if (server.folder() != null) {
            builder.directory(server.folder().toFile());
        }
        builder.environment().keySet().removeIf(variable -> !isPassedOn(variable));
        builder.environment().replaceAll((variable, value) -> withoutPassword(value));
        builder.environment().putAll(server.environment());
        ServerProcess started = new ServerProcess(server.name(), builder.start());
        Thread.ofPlatform().daemon().name("mcp-" + server.name() + "-err").start(started::listenToErrors);
        return started;
    }

    static boolean isPassedOn(String variable) {
        String upper = variable.toUpperCase(Locale.ROOT);
        return PASSED_ON.contains(upper)
                || (PASSED_ON_PREFIXES.stream().anyMatch(upper::startsWith)
                        && CREDENTIALS.stream().noneMatch(upper::contains));
    }

    /** A URL, such as that of a proxy or a registry, without the user and password in it. */
    static String withoutPassword(String value) {
        int authority = value.indexOf("://") + 3;
        int end = authority;
        while (end < value.length() && "/?#".indexOf(value.charAt(end)) < 0) {
            end++;
        }
        int at = authority < 3 ? -1 : value.lastIndexOf('@', end - 1);
        return at < authority ? value : value.substring(0, authority) + value.substring(at + 1);
    }

    /** Begins to read, on a thread of its own; {@code line} is called for each line. Once. */
    void read(Consumer<String> line) {
        Thread.ofPlatform().daemon().name("mcp-" + name + "-out").start(() -> {
            String why = "it closed its output";
            try (InputStream output = new BufferedInputStream(process.getInputStream())) {
                for (String next = readLine(output); next != null; next = readLine(output)) {
                    if (!next.isBlank()) {
                        line.accept(next);
                    }
                }
            } catch (IOException e) {
                why = e.getMessage() == null ? e.toString() : e.getMessage();
            }
            ended.complete(obituary(why));
        });
    }

    /** Writes one line; the future fails if the process does not take it. */
    CompletableFuture<Void> write(String line) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        OutputStream input = process.getOutputStream();
                        input.write((line + '\n').getBytes(StandardCharsets.UTF_8));
                        input.flush();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                writer);
    }

    /** Completes when the process says nothing more, with the reason. */
    CompletableFuture<String> ended() {
        return ended;
    }

    /** Closes its standard input, which asks it to end; what does not is killed, with all that it has started. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        List<ProcessHandle> family = new ArrayList<>(process.descendants().toList());
        writer.shutdownNow();
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            LOGGER.atTrace()
                    .addKeyValue("server", name)
                    .setCause(e)
                    .log("The input of an MCP server was closed already");
        }
        boolean interrupted = Thread.interrupted();
        try {
            if (!hasEnded(POLITE)) {
                process.destroy();
                if (!hasEnded(FIRM)) {
                    process.destroyForcibly();
                }
            }
        } catch (InterruptedException e) {
            interrupted = true;
            process.destroyForcibly();
        }
        family.forEach(ProcessHandle::destroyForcibly);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean hasEnded(Duration limit) throws InterruptedException {
        return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    private String obituary(String why) {
        StringBuilder text = new StringBuilder();
        try {
            text.append(hasEnded(POLITE) ? "it ended with exit code " + process.exitValue() : why);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            text.append(why);
        }
        synchronized (lastWords) {
            if (!lastWords.isEmpty()) {
                text.append("; it said: ").append(String.join(" | ", lastWords));
            }
        }
        return text.toString();
    }

    private void listenToErrors() {
        try (InputStream errors = new BufferedInputStream(process.getErrorStream())) {
            for (String line = readStart(errors); line != null; line = readStart(errors)) {
                LOGGER.atDebug()
                        .addKeyValue("server", name)
                        .addKeyValue("said", line)
                        .log("An MCP server said something");
                synchronized (lastWords) {
                    lastWords.add(line.length() <= MAX_WORDS_LENGTH ? line : line.substring(0, MAX_WORDS_LENGTH));
                    if (lastWords.size() > LAST_WORDS) {
                        lastWords.removeFirst();
                    }
                }
            }
        } catch (IOException e) {
            LOGGER.atTrace().addKeyValue("server", name).setCause(e).log("The errors of an MCP server ended");
        }
    }

    /** The beginning of the next line; the rest of it is passed over. {@code null} at the end. */
    static @Nullable String readStart(InputStream errors) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(256);
        int next = errors.read();
        boolean atEnd = next < 0;
        for (; next >= 0 && next != '\n'; next = errors.read()) {
            if (line.size() < MAX_ERROR_LINE_BYTES) {
                line.write(next);
            }
        }
        return atEnd ? null : line.toString(StandardCharsets.UTF_8).stripTrailing();
    }

    /** The next line without its end; {@code null} at the end. A server may not fill this process's memory. */
    private static @Nullable String readLine(InputStream output) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(256);
        for (int next = output.read(); next >= 0; next = output.read()) {
            if (next == '\n') {
                return line.toString(StandardCharsets.UTF_8);
            }
            line.write(next);
            if (line.size() > MAX_LINE_BYTES) {
                throw new IOException("it sent a message of more than " + MAX_LINE_BYTES + " bytes");
            }
        }
        return line.size() == 0 ? null : line.toString(StandardCharsets.UTF_8);
    }
}
