package dev.millrace.reflection.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A reflection on an ended task, between two calls of the model. What it is told is fixed at the start, so that a provider's
 * prefix cache holds from one round to the next.
 *
 * @param input what the task was asked to do
 * @param response what it answered; {@code null} = nothing
 * @param iterations model calls of the task
 * @param actionsCount steps that it did
 * @param memory what memory held at the start, for the model
 * @param rounds what has happened since, oldest first
 * @param factsWritten how many calls have changed facts
 * @param hasEpisode whether one has changed an episode
 */
public record Reflection(
        String input,
        @Nullable String response,
        long iterations,
        long actionsCount,
        String memory,
        List<Round> rounds,
        int factsWritten,
        boolean hasEpisode) {

    /** How often the model is asked at most (F-096). */
    public static final int MAX_ROUNDS = 5;

    /** What is said of a reflection that ends with tool calls (F-101). */
    public static final String MAX_ROUNDS_REACHED = "Max reflection rounds reached";

    /** How long the index of episodes may be, in characters (F-095). */
    static final int MAX_EPISODES_CHARS = 10_000;

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
    public record Call(String toolCallId, String toolName, String arguments, String result, boolean failed) {}

    /** Begins, with memory as it is now: all facts, and the index of episodes, the newest first (F-094, F-095). */
    public static Reflection begin(
            String input, @Nullable String response, long iterations, long actionsCount, Documents documents) {
        return new Reflection(input, response, iterations, actionsCount, preload(documents), List.of(), 0, false);
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
                hasEpisode || changes.size() > facts);
    }

    /** Whether the model is not asked again. */
    public boolean isExhausted() {
        return rounds.size() >= MAX_ROUNDS;
    }

    /** How many tools the model has called. */
    public int toolCallsCount() {
        return rounds.stream().mapToInt(round -> round.calls().size()).sum();
    }

    private static String preload(Documents documents) {
        StringBuilder facts = new StringBuilder();
        List<String> episodes = new ArrayList<>();
        documents.all().forEach((path, content) -> {
            if (path.isFact()) {
                facts.append("### ")
                        .append(path)
                        .append("\n\n")
                        .append(content.strip())
                        .append("\n\n");
            } else {
                episodes.addFirst(MemoryIndex.line(path.text(), Markdown.size(content), Markdown.summary(content)));
            }
        });
        StringBuilder index = new StringBuilder();
        for (String line : episodes) {
            if (index.length() + line.length() > MAX_EPISODES_CHARS) {
                break;
            }
            index.append(line).append('\n');
        }
        return "## Facts\n\n" + (facts.isEmpty() ? "(none yet)\n\n" : facts) + "## Episodes, the newest first\n\n"
                + (index.isEmpty() ? "(none yet)\n" : index);
    }

    /** The tools of a reflection (F-097): the index is preloaded, so there is none to list. */
    public static boolean offers(String tool) {
        return MemoryTools.NAMES.contains(tool) && !tool.equals(MemoryTools.LIST);
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
    public static MemoryTools.Outcome call(
            String tool, Map<String, ? extends @Nullable Object> params, Documents documents) throws MemoryException {
        if (!offers(tool)) {
            throw notOffered(tool);
        }
        return MemoryTools.call(tool, params, documents);
    }
}
