package dev.millrace.reflection.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A reflection on an ended task, between two calls of the model. What it is told is fixed at the start, so that a
 * provider's prefix cache holds from one round to the next.
 *
 * @param input what the task was asked to do
 * @param response what it answered; {@code null} = nothing
 * @param iterations model calls of the task
 * @param actionsCount steps that it did
 * @param memory what memory held at the start, for the model
 * @param rounds what has happened since, oldest first
 * @param factsWritten how many calls have changed facts
 * @param hasEpisode whether one has changed an episode
 * @param partial whether memory held more than it says, so that there is a tool to list the rest
 * @param steps what it did between the two, in words; {@code null} = nothing is told
 */
public record Reflection(
        String input,
        @Nullable String response,
        long iterations,
        long actionsCount,
        String memory,
        List<Round> rounds,
        int factsWritten,
        boolean hasEpisode,
        boolean partial,
        @Nullable String steps) {

    /** How often the model is asked at most. */
    public static final int MAX_ROUNDS = 5;

    /** What is said of a reflection that ends with tool calls. */
    public static final String MAX_ROUNDS_REACHED = "Max reflection rounds reached";

    /**
     * The most characters of what was asked, and of what was answered, that a reflection is shown; what is beyond is
     * left out. This and the limits below keep its row below the largest record of a machine, in any encoding: at most
     * 300 000 characters of texts and the four rounds that are stored before the last one ends it, all at six bytes a
     * character.
     */
    public static final int MAX_TEXT_CHARS = 40_000;
    /** The most characters of what it did that a reflection is shown; what is beyond is left out. */
    public static final int MAX_STEPS_CHARS = 16_000;
    /** The most characters of tool calls and their results in one round. */
    public static final int MAX_ROUND_CHARS = 250_000;
    /** The most tool calls of one round; those beyond are not made, and the model sees that. */
    public static final int MAX_ROUND_CALLS = 50;
    /** The most characters that the model may say beside its calls in one round; what is beyond is left out. */
    public static final int MAX_SAID_CHARS = 4_000;
    /** The longest assessment at its end, in characters; what is beyond is left out. */
    public static final int MAX_ASSESSMENT_CHARS = 10_000;

    /** A character of a text takes this many times the bytes of one of JSON text at most. */
    private static final int RAW = 2;

    public Reflection {
        rounds = List.copyOf(rounds);
    }

    /**
     * One reply of the model and what came of it.
     *
     * @param text what it said beside its calls; {@code null} = nothing
     * @param calls its tool calls with their results, in its order
     */
    public record Round(@Nullable String text, List<Call> calls) {
        public Round {
            calls = List.copyOf(calls);
        }
    }

    /**
     * A tool call of the model, done.
     *
     * @param toolCallId the provider's id
     * @param toolName as the model wrote it
     * @param arguments JSON text
     * @param result JSON text, or {@code Error: …}
     * @param failed whether memory said no
     */
    public record Call(String toolCallId, String toolName, String arguments, String result, boolean failed) {

        /** The same call with this result. */
        public Call answered(String text, boolean refused) {
            return new Call(toolCallId, toolName, arguments, text, refused);
        }

        /** How much of its round it takes, in characters of JSON; its id and name may be made of anything. */
        public int size() {
            return RAW * (toolCallId.length() + toolName.length()) + arguments.length() + result.length();
        }
    }

    /** Begins, with memory as it is now: all facts, and the index of episodes, the newest first. */
    public static Reflection begin(
            String input, @Nullable String response, long iterations, long actionsCount, Documents documents) {
        Preload preload = Preload.of(documents);
        return new Reflection(
                cut(input, MAX_TEXT_CHARS),
                response == null ? null : cut(response, MAX_TEXT_CHARS),
                iterations,
                actionsCount,
                preload.text(),
                List.of(),
                0,
                false,
                preload.partial(),
                null);
    }

    /** The same, told what the task did. */
    public Reflection told(@Nullable String did) {
        return new Reflection(
                input,
                response,
                iterations,
                actionsCount,
                memory,
                rounds,
                factsWritten,
                hasEpisode,
                partial,
                did == null ? null : cut(did, MAX_STEPS_CHARS));
    }

    /** The same after one more round. */
    public Reflection after(Round round, List<MemoryTools.Change> changes) {
        List<Round> all = new ArrayList<>(rounds);
        all.add(round);
        int facts =
                (int) changes.stream().filter(change -> change.path().isFact()).count();
        return new Reflection(
                input,
                response,
                iterations,
                actionsCount,
                memory,
                all,
                factsWritten + facts,
                hasEpisode || changes.size() > facts,
                partial,
                steps);
    }

    /** Whether the model is not asked again. */
    public boolean isExhausted() {
        return rounds.size() >= MAX_ROUNDS;
    }

    /** How many tools the model has called. */
    public int toolCallsCount() {
        return rounds.stream().mapToInt(round -> round.calls().size()).sum();
    }

    /** The text, or its beginning and how much is left out. */
    public static String cut(String text, int chars) {
        if (text.length() <= chars) {
            return text;
        }
        String begin = Markdown.begin(text, chars);
        return begin + "\n… (" + (text.length() - begin.length()) + " characters left out)";
    }

    /** The tools of a reflection: there is none to list where everything is shown. */
    public boolean offers(String tool) {
        return MemoryTools.NAMES.contains(tool) && (partial || !tool.equals(MemoryTools.LIST));
    }

    /** What became of a call of a tool that a reflection does not have. */
    static MemoryException notOffered(String tool) {
        return new MemoryException("tool_not_allowed", "Tool \"" + tool + "\" is not available in a reflection");
    }

    /**
     * Works out a call of the model.
     *
     * @throws MemoryException if memory says no
     */
    public MemoryTools.Outcome call(String tool, Map<String, ? extends @Nullable Object> params, Documents documents)
            throws MemoryException {
        if (!offers(tool)) {
            throw notOffered(tool);
        }
        return MemoryTools.call(tool, params, documents);
    }
}
