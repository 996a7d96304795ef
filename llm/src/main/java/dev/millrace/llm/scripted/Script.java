package dev.millrace.llm.scripted;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A script, read and checked. Immutable. The format is described in {@code docs/scripted-model.md}. */
public final class Script {

    private static final String BUILT_IN = "default-script.yaml";

    private final String source;
    private final String modelName;
    private final @Nullable Path callLog;
    private final List<ScriptRule> rules;
    private final ScriptRule fallback;
    private final long seed;

    Script(String source, Head head, List<ScriptRule> rules, ScriptRule fallback) {
        this.source = source;
        this.modelName = head.modelName();
        this.callLog = head.callLog();
        this.seed = head.seed();
        this.rules = List.copyOf(rules);
        this.fallback = fallback;
    }

    /**
     * What a part of a script is read with.
     *
     * @param latency of replies that say nothing of it; null = none
     * @param chunking of replies that say nothing, or not all, of it
     * @param user the rule's pattern, whose groups templates may name; null = none
     * @param literal whether texts are no templates
     */
    record Context(
            @Nullable Latency latency,
            Chunking chunking,
            @Nullable Pattern user,
            boolean literal) {}

    /** What a script says of itself. */
    record Head(String modelName, @Nullable Path callLog, long seed) {}

    /**
     * Reads a script.
     *
     * @param source how errors call it, such as a file name
     * @throws InvalidScriptException if it is no script
     */
    public static Script parse(String source, String yaml) {
        return new ScriptReader(source, yaml).read();
    }

    /**
     * Reads a script from a UTF-8 file.
     *
     * @throws InvalidScriptException if the file cannot be read or is no script
     */
    public static Script load(Path file) {
        try {
            return parse(file.toString(), Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new InvalidScriptException(file.toString(), "there is no such file");
        } catch (IOException e) {
            throw new InvalidScriptException(file.toString(), "cannot be read: " + e);
        }
    }

    /** The script that comes with Millrace. */
    public static Script builtIn() {
        try (InputStream in = Script.class.getResourceAsStream(BUILT_IN)) {
            if (in == null) {
                throw new IllegalStateException("the jar has lost " + BUILT_IN);
            }
            return parse("built-in script", new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + BUILT_IN + " of the jar", e);
        }
    }

    /** Where the script came from. */
    public String source() {
        return source;
    }

    /** What replies call the model. */
    public String modelName() {
        return modelName;
    }

    /** The file that gets one line per call; null if none. */
    public @Nullable Path callLog() {
        return callLog;
    }

    /** What the latencies are drawn with. */
    long seed() {
        return seed;
    }

    /** Whether any rule is for one certain request. */
    boolean knowsRequests() {
        return rules.stream().anyMatch(rule -> rule.when().request() != null);
    }

    /** The first rule that fits, else the fallback. */
    ScriptRule.Match match(Turn turn, Series series) {
        for (ScriptRule rule : rules) {
            ScriptRule.Match match = rule.match(turn, series);
            if (match != null) {
                return match;
            }
        }
        return new ScriptRule.Match(fallback, 0, null);
    }
}
