package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A page of instructions that is followed to the letter. Each block that is fenced as {@code sh} is given to bash, one after
 * the other, and has to end well; the block fenced as {@code text} behind it is what it prints, in which {@code …} stands for
 * anything within a line and a line with nothing else for any lines. Where {@code <!-- goes on, after: TEXT -->} stands before
 * a block, it is left running as soon as it has printed TEXT.
 */
final class Walkthrough implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final Pattern BLOCK = Pattern.compile(
            "(?:<!-- goes on, after: (?<after>[^\\n]+?) -->\\n)?```sh\\n(?<commands>.*?)```\\n"
                    + "(?:\\s*```text\\n(?<output>.*?)```\\n)?",
            Pattern.DOTALL);

    private final Path folder;
    private final Map<String, String> environment;
    private final Map<String, String> replaced = new LinkedHashMap<>();
    private final List<Process> running = new ArrayList<>();
    private int count;

    /**
     * One block.
     *
     * @param commands what bash gets
     * @param after what it has printed when the next one may begin; {@code null} = it ends
     * @param output what it prints; {@code null} = anything
     */
    record Block(
            String commands,
            @Nullable String after,
            @Nullable String output) {}

    /** A block that did not do what the page says. */
    static final class DeviationError extends AssertionError {
        private static final long serialVersionUID = 1L;

        private final String printed;

        DeviationError(String message, String printed) {
            super(message + "\n" + printed);
            this.printed = printed;
        }

        /** What it printed instead. */
        String printed() {
            return printed;
        }
    }

    /** A walk in this folder, with these variables beside those that choose no model and no broker. */
    Walkthrough(Path folder, Map<String, String> environment) {
        this.folder = folder;
        this.environment = environment;
    }

    /** Has one text of the page stand for another, such as a port. */
    Walkthrough with(String text, String instead) {
        replaced.put(text, instead);
        return this;
    }

    /** The blocks of a page. */
    static List<Block> blocks(String page) {
        List<Block> blocks = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(page);
        while (matcher.find()) {
            blocks.add(new Block(matcher.group("commands"), matcher.group("after"), matcher.group("output")));
        }
        return blocks;
    }

    /**
     * Does what one block says, and compares.
     *
     * @throws DeviationError if it does anything else
     */
    void follow(Block block) throws IOException, InterruptedException {
        String commands = block.commands();
        for (Map.Entry<String, String> each : replaced.entrySet()) {
            commands = commands.replace(each.getKey(), each.getValue());
        }
        Path log = folder.resolve("block-" + ++count + ".log");
        Process process = start(commands, log);
        String after = block.after();
        if (after != null) {
            running.add(process);
            awaitText(commands, process, log, after);
            return;
        }
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            end(process);
            throw new DeviationError("Expected an end within " + LIMIT.toSeconds() + " s of\n" + commands, read(log));
        }
        if (process.exitValue() != 0) {
            throw new DeviationError(
                    "Expected that it ends well, found exit code " + process.exitValue() + " of\n" + commands,
                    read(log));
        }
        String expected = block.output();
        if (expected != null) {
            assertThat(read(log).strip()).as(commands).matches(pattern(expected));
        }
    }

    private Process start(String commands, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("bash", "-euo", "pipefail", "-c", commands)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment()
                .keySet()
                .removeIf(variable ->
                        variable.matches("(OPENAI|ANTHROPIC|GEMINI|OLLAMA|MILLRACE|KAFKA|OTEL|QUARKUS|MAVEN)_.*"));
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static void awaitText(String commands, Process process, Path log, String text) {
        try {
            await().atMost(LIMIT)
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> read(log).contains(text) || !process.isAlive());
        } catch (ConditionTimeoutException e) {
            throw new DeviationError(
                    "Expected \"" + text + "\" within " + LIMIT.toSeconds() + " s of\n" + commands, read(log));
        }
        if (!read(log).contains(text)) {
            throw new DeviationError("Expected \"" + text + "\", found an end, of\n" + commands, read(log));
        }
    }

    /** What output has to match that is to look like this. */
    static Pattern pattern(String expected) {
        return Pattern.compile(Arrays.stream(expected.strip().split("\n", -1))
                .map(line -> line.strip().equals("…")
                        ? "(?s:.*)"
                        : Arrays.stream(line.split("…", -1))
                                .map(part -> part.isEmpty() ? "" : Pattern.quote(part))
                                .collect(Collectors.joining("[^\\n]*")))
                .collect(Collectors.joining("\n")));
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }

    /** Ends what goes on. */
    @Override
    public void close() {
        running.reversed().forEach(Walkthrough::end);
    }
}
