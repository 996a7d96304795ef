package dev.millrace.standalone.cli;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tells in one line what an event of a task means to somebody who waits for the answer. Remembers the current model
 * call.
 */
final class Progress {

    /** So that a long argument does not fill the terminal. */
    private static final int MAX_DETAIL = 120;

    private int reasonings;
    private long askedAt;

    /** The line for this event; empty if it means nothing to a waiting person. */
    Optional<String> line(ToldEvent event) {
        return Optional.ofNullable(
                switch (event.payload()) {
                    case Payload.ModelCallRequested call -> {
                        askedAt = event.timestamp();
                        reasonings++;
                        yield "reasoning" + (reasonings == 1 ? "" : ", round " + reasonings);
                    }
                    case Payload.ReasonDone reply -> reasoned(reply, event.timestamp() - askedAt);
                    case Payload.ModelCallFailed call -> "  the model failed: " + cut(call.error());
                    case Payload.ToolCallRequested call ->
                        "tool " + call.toolName() + ' ' + cut(Json.writeText(call.params()));
                    case Payload.ToolCallCompleted call ->
                        "  " + call.toolName() + " done in " + duration(call.durationMs());
                    case Payload.ToolCallFailed call ->
                        "  " + call.toolName() + " failed after " + duration(call.durationMs()) + ": "
                                + cut(call.error());
                    case Payload.TaskNotify said -> "note: " + cut(said.message());
                    case Payload.ApprovalRequested asked ->
                        "approval needed: " + asked.toolName() + ' ' + cut(Json.writeText(asked.params()))
                                + why(asked.reason());
                    case Payload.ApprovalDecided decided -> "  " + decided(decided);
                    case Payload.TaskSuspended suspended -> "suspended";
                    case Payload.TaskResumed resumed -> "resumed";
                    default -> null;
                });
    }

    private static String reasoned(Payload.ReasonDone reply, long millis) {
        StringBuilder line = new StringBuilder("  ").append(reply.model() == null ? "model" : reply.model());
        line.append(" took ").append(duration(Math.max(0, millis)));
        Payload.Usage usage = reply.usage();
        if (usage != null && usage.outputTokens() > 0) {
            line.append(", " + usage.inputTokens() + " + " + usage.outputTokens() + " tokens");
        }
        if (reply.reasoning() != null && !reply.reasoning().isBlank()) {
            line.append(": ").append(cut(reply.reasoning()));
        }
        return line.toString();
    }

    /** On a line of its own and whole, since whoever decides has to know it. */
    private static String why(@Nullable String reason) {
        return reason == null || reason.isBlank()
                ? ""
                : "\n  reason: " + reason.strip().replaceAll("\\s+", " ");
    }

    /** A decision on a tool call, whose it is, and why. */
    static String decided(Payload.ApprovalDecided decided) {
        return (decided.decision().equals("approve") ? "approved" : "rejected")
                + (decided.params() == null ? "" : ", with " + cut(Json.writeText(decided.params())))
                + (decided.decidedBy() == null ? "" : " by " + decided.decidedBy())
                + (decided.reason() == null ? "" : ": " + cut(decided.reason()));
    }

    /** {@code null} = not told, which counts as none. */
    static String duration(@Nullable Long millis) {
        return millis == null || millis < 1_000
                ? Objects.requireNonNullElse(millis, 0L) + " ms"
                : String.format(Locale.ROOT, "%.1f s", millis / 1_000.0);
    }

    static String cut(String text) {
        return cut(text, MAX_DETAIL);
    }

    /** The text in one line of so many characters at most. */
    static String cut(String text, int max) {
        String line = printable(text.strip().replaceAll("\\s+", " "));
        return line.length() <= max ? line : line.substring(0, max - 1) + "…";
    }

    /** The same of a text of several lines. */
    static String printableLines(String text) {
        return text.replace("\r", "").replaceAll("[\\p{Cntrl}\\x80-\\x9f&&[^\\t\\n]]", "\uFFFD");
    }

    /** Without what steers a terminal: what tasks say comes from anybody. */
    static String printable(String text) {
        return text.replaceAll("[\\p{Cntrl}\\x80-\\x9f&&[^\\t]]", "\uFFFD");
    }
}
