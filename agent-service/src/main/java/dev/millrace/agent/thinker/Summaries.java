package dev.millrace.agent.thinker;

import dev.millrace.agent.core.TokenEstimate;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Summary;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.schemas.JsonText;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Has the older part of a conversation summed up. It is written out as one text, not sent as a conversation: so the
 * model does not go on with it, no tools have to be declared, and what is too long for one request can be shortened.
 */
final class Summaries {

    private static final String INSTRUCTIONS = """
            You sum up the older part of a conversation between a user and an assistant who works with tools. The assistant \
            goes on from your summary alone, without the part that you sum up. Write down, in this order and only what there \
            is: what the user wants, with every condition; what has been decided, and why; what has been done and found out, \
            with names, numbers, paths, ids and URLs exactly as they stand; what went wrong and must not be tried again; what \
            is left to do. Keep what is of use and leave out the rest. Do not answer the user, do not call tools, do not add \
            anything. At most 800 words.""";

    /**
     * The part of the window that the text may fill; the rest is for the instructions, the summary and wrong estimates.
     */
    private static final double FILLED = 0.6;

    /** How much of each text is kept, in characters, until everything fits. */
    private static final int[] CUTS = {Integer.MAX_VALUE, 8_000, 2_000, 500, 100};

    private Summaries() {}

    /** What the model is shown in place of what was summed up. */
    static String shown(Summary summary) {
        String request = summary.request();
        return "[Summary of the conversation so far]\n"
                + summary.text()
                + (request == null ? "" : "\n\n[What the user has asked for, word for word]\n" + request);
    }

    /**
     * The request for a summary.
     *
     * @param transcript what is to be summed up
     * @param model the model that is asked; {@code null} = the default one
     * @param contextWindow tokens that it takes
     */
    static ModelRequest request(
            OutstandingCall call, List<TranscriptEntry> transcript, @Nullable String model, int contextWindow) {
        return new ModelRequest(
                call.callId(),
                model,
                List.of(
                        new ChatMessage.SystemMessage(INSTRUCTIONS),
                        new ChatMessage.UserMessage(
                                "The part to sum up:\n\n" + written(transcript, (long) (FILLED * contextWindow)))),
                List.of());
    }

    /** What was said to the task last in this part, word for word; {@code null} = nothing was. */
    static @Nullable String request(List<TranscriptEntry> transcript) {
        for (TranscriptEntry entry : transcript.reversed()) {
            if (entry instanceof UserText said) {
                return said.text();
            }
            if (entry instanceof Summary summary) {
                return summary.request();
            }
        }
        return null;
    }

    /** The whole part if it fits, else with its long texts cut, in the last resort without its beginning. */
    private static String written(List<TranscriptEntry> transcript, long maxTokens) {
        List<String> pieces = List.of();
        for (int cut : CUTS) {
            pieces = transcript.stream().map(entry -> written(entry, cut)).toList();
            if (tokens(pieces) <= maxTokens) {
                return String.join("\n\n", pieces);
            }
        }
        List<String> fitting = new ArrayList<>(pieces);
        while (fitting.size() > 1 && tokens(fitting) > maxTokens) {
            fitting.removeFirst();
        }
        return "[The beginning is left out]\n\n" + String.join("\n\n", fitting);
    }

    private static long tokens(List<String> pieces) {
        return pieces.stream().mapToLong(TokenEstimate::of).sum();
    }

    private static String written(TranscriptEntry entry, int cut) {
        return switch (entry) {
            case UserText said ->
                "User: " + cut(said.text(), cut) + (said.images().isEmpty() ? "" : " [image]");
            // it has been cut down already
            case Summary summary -> shown(summary);
            case AssistantTurn turn -> {
                StringBuilder text = new StringBuilder("Assistant: ");
                text.append(cut(turn.text() == null ? "" : turn.text(), cut));
                turn.toolCalls()
                        .forEach(call -> text.append("\nAssistant calls ")
                                .append(call.toolName())
                                .append(' ')
                                .append(cut(call.arguments(), cut)));
                yield text.toString();
            }
            case ToolResult result -> "Result of " + result.toolName() + ": " + cut(result.content(), cut);
        };
    }

    private static String cut(String text, int max) {
        return text.length() <= max
                ? text
                : JsonText.begin(text, max) + "… [" + (text.length() - max) + " characters left out]";
    }
}
