package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * Prints what the model says while it says it, at a terminal; elsewhere only the answer counts, and is printed in the
 * end. For one task.
 */
final class LiveAnswer {
    private final Terminal terminal;
    private final StringBuilder text = new StringBuilder();
    private String callId = "";
    private int attempt;
    private boolean midLine;

    LiveAnswer(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Takes an event of the task's stream; false if it is no live text. */
    boolean take(JsonNode event) {
        String type = event.path("type").asText();
        if (!type.startsWith("stream.")) {
            return false;
        }
        int number = event.path("attempt").asInt();
        boolean newer = !callId.equals(event.path("callId").asText()) || number > attempt;
        if (newer) {
            breakLine();
            if (type.equals("stream.restart") && !text.isEmpty()) {
                terminal.err().println("  the model is asked again");
            }
            callId = event.path("callId").asText();
            attempt = number;
            text.setLength(0);
        }
        if (type.equals("stream.text") && number == attempt) {
            String delta = event.path("delta").asText();
            text.append(delta);
            terminal.out().print(delta);
            terminal.out().flush();
            midLine = !text.isEmpty() && text.charAt(text.length() - 1) != '\n';
        }
        return true;
    }

    /** Ends the line that was begun, so that something else can be printed. */
    void breakLine() {
        if (midLine) {
            terminal.out().println();
            midLine = false;
        }
    }

    /** Prints the answer, unless it stands there already. */
    void finish(String answer) {
        breakLine();
        if (text.isEmpty() || !text.toString().equals(answer)) {
            terminal.out().println(answer);
        }
    }
}
