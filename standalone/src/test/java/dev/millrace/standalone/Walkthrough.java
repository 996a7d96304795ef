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
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A page of instructions that is followed to the letter. Each block that is fenced as {@code sh} is given to bash, one after
 * the other, and has to end well; the block fenced as {@code text} behind it is what it prints, in which {@code …} stands for
 * anything within a line and a line with nothing else for any lines. Where {@code <!-- goes on, after: TEXT -->} stands before
 * a block, it is left running as soon as it has printed TEXT. Where {@code <!-- file: NAME -->} stands before one, it is what
 * that file has.
 */
final class Walkthrough implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final Pattern BLOCK = Pattern.compile(
            "(?:<!-- goes on, after: (?<after>[^\\n]+?) -->\\n)?```sh\\n(?<commands>.*?)```\\n"
                    + "(?:\\s*```text\\n(?<output>.*?)```\\n)?",
            Pattern.DOTALL);
    private static final Pattern FILE =
            Pattern.compile("<!-- file: (?<name>\\S+) -->\\n```\\w+\\n(?<text>.*?)```\\n", Pattern.DOTALL);

    private final Path folder;
    private final Map<String, String> environment;
    private final Map<String, String> replaced = new LinkedHashMap<>();
    private final List<Process> running = new ArrayList<>();
    private Duration limit = LIMIT;
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

    /** Has every block take as long as this. */
    Walkthrough within(Duration time) {
        limit = time;
        return this;
    }

    /** Writes the files that a page shows. */
    void write(String page) throws IOException {
        for (MatchResult file : FILE.matcher(page).results().toList()) {
            Path written = folder.resolve(file.group("name"));
            Files.createDirectories(Objects.requireNonNull(written.getParent()));
            Files.writeString(written, adapted(file.group("text")));
        }
    }

    private String adapted(String text) {
        String adapted = text;
        for (Map.Entry<String, String> each : replaced.entrySet()) {
            adapted = adapted.replace(each.getKey(), each.getValue());
        }
        return adapted;
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
     * Does what one block says, compares, and returns what it has printed by then.
     *
     * @throws DeviationError if it does anything else
     */
    String follow(Block block) throws IOException, InterruptedException {
        String commands = adapted(block.commands());
        Path log = folder.resolve("block-" + ++count + ".log");
        Process process = start(commands, log);
        String after = block.after();
        if (after != null) {
            running.add(process);
            awaitText(commands, process, log, after);
            return read(log);
        }
        if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
            end(process);
            throw new DeviationError("Expected an end within " + limit.toSeconds() + " s of\n" + commands, read(log));
        }
        if (process.exitValue() != 0) {
            throw new DeviationError(
                    "Expected that it ends well, found exit code " + process.exitValue() + " of\n" + commands,
                    read(log));
        }
        String expected = block.output();
        String printed = read(log);
        if (expected != null) {
            assertThat(printed.strip()).as(commands).matches(pattern(expected));
        }
        return printed;
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

    private void awaitText(String commands, Process process, Path log, String text) {
        try {
            await().atMost(limit)
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> read(log).contains(text) || !process.isAlive());
        } catch (ConditionTimeoutException e) {
            throw new DeviationError(
                    "Expected \"" + text + "\" within " + limit.toSeconds() + " s of\n" + commands, read(log));
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
