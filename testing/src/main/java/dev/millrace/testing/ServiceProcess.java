package dev.millrace.testing;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A part of Millrace as a process of its own, with a log file: {@code ServiceProcess.standalone("up", …).start()}. What
 * fails carries the end of the log, and what its threads do if it went on without what was waited for. Killed on
 * {@link #close}, and with this JVM.
 */
public final class ServiceProcess implements AutoCloseable {

    /** How long a start may take; usual are a few seconds, but CI machines can be slow and busy. */
    public static final Duration START_LIMIT = Duration.ofSeconds(90);

    private static final int TAIL_LINES = 60;

    private static final Duration DUMP_LIMIT = Duration.ofSeconds(10);

    /** What ends soon is done sooner with the quick compiler alone, and needs little memory. */
    private static final List<String> QUICK = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static final int FIRST_WITH_AOT_CACHE = 25;

    private static final String MANAGEMENT_PORT = "QUARKUS_MANAGEMENT_PORT";

    private final String name;
    private final Process process;
    private final Path log;
    private final Optional<String> managementPort;
    private final Thread hook;

    private ServiceProcess(String name, Process process, Path log, Optional<String> managementPort) {
        this.name = name;
        this.process = process;
        this.log = log;
        this.managementPort = managementPort;
        this.hook = Thread.ofPlatform().unstarted(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** What to start. */
    public static final class Builder {
        private final String name;
        private final List<String> program;
        private final List<String> args;
        private final List<String> jvmArgs = new ArrayList<>();
        private List<String> speed = QUICK;
        // reflections are model calls that a test of tasks would count
        private final Map<String, String> environment =
                new LinkedHashMap<>(Map.of("MILLRACE_AGENT_REFLECTION_ENABLED", "false"));

        private Builder(String name, List<String> program, List<String> args) {
            this.name = name;
            this.program = program;
            this.args = args;
        }

        /** Sets a variable for the process, which inherits none that would choose a model or a broker. */
        public Builder env(String variable, String value) {
            environment.put(variable, value);
            return this;
        }

        /** Adds an argument for the JVM, such as {@code -Dkey=value}. */
        public Builder jvm(String arg) {
            jvmArgs.add(arg);
            return this;
        }

        /**
         * Leaves compilers and collector to the JVM, for what is measured; tests start with the quick compiler alone.
         */
        public Builder asInProduction() {
            speed = List.of();
            return this;
        }

        /** The command line that starts it. */
        public List<String> command() {
            List<String> command = new ArrayList<>();
            command.add(ProcessHandle.current().info().command().orElse("java"));
            command.addAll(speed);
            command.add("--enable-native-access=ALL-UNNAMED");
            command.addAll(jvmArgs);
            command.addAll(program);
            command.addAll(args);
            return command;
        }

        /** Starts it; its output goes to {@code <folder>/<name>.log}, appended if there is one. Does not wait. */
        public ServiceProcess start(Path folder) {
            Path log = folder.resolve(name + ".log");
            ProcessBuilder builder = new ProcessBuilder(command())
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            builder.environment()
                    .keySet()
                    .removeIf(variable -> variable.startsWith("OPENAI_")
                            || variable.startsWith("MILLRACE_")
                            || variable.startsWith("KAFKA_")
                            || variable.startsWith("OTEL_")
                            || variable.startsWith("QUARKUS_"));
            builder.environment().putAll(environment);
            try {
                return new ServiceProcess(
                        name, builder.start(), log, Optional.ofNullable(environment.get(MANAGEMENT_PORT)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The whole of it, or one of its commands: {@code standalone("up", "--port", …)}. */
    public static Builder standalone(String... args) {
        Builder builder = new Builder("standalone-" + args[0], application("standalone"), List.of(args));
        archive().forEach(builder::jvm);
        return builder;
    }

    /** One service alone, by the name of its module ({@code agent-service}). Its management port is a free one. */
    public static Builder service(String module) {
        return new Builder(module, application(module), List.of())
                .env(MANAGEMENT_PORT, Integer.toString(FreePort.find()));
    }

    /** A class of this process's own class path. */
    public static Builder mainClass(Class<?> main, String... args) {
        return new Builder(
                main.getSimpleName(),
                List.of("-cp", System.getProperty("java.class.path"), main.getName()),
                List.of(args));
    }

    /** Waits until this URL answers 200. */
    public ServiceProcess awaitReady(URI url) {
        HttpApi api = new HttpApi(url);
        awaitThat("ready at " + url, START_LIMIT, () -> api.status("") == 200);
        return this;
    }

    /** Waits until a service is ready, as its management port says. */
    public ServiceProcess awaitReady() {
        return awaitReady(management("/q/health/ready"));
    }

    /**
     * Where a service has what is for probes and monitoring.
     *
     * @param path such as {@code /q/metrics}
     */
    public URI management(String path) {
        return URI.create("http://127.0.0.1:"
                + managementPort.orElseThrow(() -> new IllegalStateException(name + " has one port for everything"))
                + path);
    }

    /** Waits until the output contains this text. */
    public ServiceProcess awaitOutput(String text, Duration limit) {
        awaitThat("the output \"" + text + '"', limit, () -> output().contains(text));
        return this;
    }

    /** Ends it at once with SIGKILL, and waits until it is gone. */
    public void kill() {
        process.destroyForcibly();
        awaitEnd(Duration.ofSeconds(20));
    }

    /** Asks it to end with SIGTERM, waits, and returns its exit code. */
    public int stop(Duration limit) {
        process.destroy();
        return awaitEnd(limit);
    }

    /** Waits until it ends by itself, and returns its exit code. */
    public int awaitEnd(Duration limit) {
        try {
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError(name + " did not end within " + limit.toSeconds() + " s." + tail());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + name, e);
        }
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** All that it has written so far, standard output and error together. */
    public String output() {
        try {
            return Files.exists(log) ? Files.readString(log, StandardCharsets.UTF_8) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for this condition, as long as the process lives. */
    public void awaitThat(String what, Duration limit, Callable<Boolean> condition) {
        try {
            await().atMost(limit)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> {
                        if (!process.isAlive()) {
                            throw new AssertionError(
                                    name + " ended with " + process.exitValue() + " before " + what + "." + tail());
                        }
                        return condition.call();
                    });
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(
                    name + ": no " + what + " within " + limit.toSeconds() + " s." + tail() + "\n" + threads(), e);
        }
    }

    /** What its threads do: all of the platform's, and the virtual ones that run. */
    private String threads() {
        Path dump = log.resolveSibling(name + ".threads");
        try {
            Process jcmd = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "jcmd")
                                    .toString(),
                            Long.toString(process.pid()),
                            "Thread.print")
                    .redirectErrorStream(true)
                    .redirectOutput(dump.toFile())
                    .start();
            if (!jcmd.waitFor(DUMP_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                jcmd.destroyForcibly();
                return "It does not say within " + DUMP_LIMIT.toSeconds() + " s what its threads do.";
            }
            return Files.readString(dump);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + name, e);
        } catch (IOException e) {
            return "What its threads do is not known: " + e;
        }
    }

    private String tail() {
        List<String> lines = output().lines().toList();
        return " The end of " + log + ":\n"
                + String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
    }

    /**
     * What a module was built to.
     *
     * @throws AssertionError if it was not built
     */
    public static Path jar(String module) {
        Path jar = repository().resolve(Path.of(module, "target", "quarkus-app", "quarkus-run.jar"));
        if (!Files.isRegularFile(jar)) {
            throw new AssertionError("Expected a built " + jar + ", found none. Run ./mvnw package.");
        }
        return jar;
    }

    private static List<String> application(String module) {
        return List.of("-jar", jar(module).toString());
    }

    /**
     * What {@code ./millrace} adds as well if it has run the application once; a JVM that finds it not to fit goes on
     * without.
     */
    private static List<String> archive() {
        Path folder = repository().resolve(Path.of("standalone", "target", "archive"));
        Path classes = folder.resolve("classes");
        if (!Files.isRegularFile(classes) || !Files.isRegularFile(folder.resolve("key"))) {
            return List.of();
        }
        return Runtime.version().feature() >= FIRST_WITH_AOT_CACHE
                ? List.of("-XX:+UseCompactObjectHeaders", "-XX:AOTCache=" + classes, "-Xlog:aot*=off")
                : List.of("-XX:SharedArchiveFile=" + classes, "-Xlog:cds*=off");
    }

    /** The folder of the clone that this process was started in, or below. */
    public static Path repository() {
        Path here = Path.of("").toAbsolutePath();
        for (Path folder = here; folder != null; folder = folder.getParent()) {
            if (Files.isRegularFile(folder.resolve("mvnw"))) {
                return folder;
            }
        }
        throw new IllegalStateException("Expected to be in a clone of Millrace, found " + here);
    }
}
