package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.LivePiece;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.StreamType;
import java.util.Objects;

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
        LivePiece piece = Json.MAPPER.convertValue(event, LivePiece.class);
        if (!(EventType.of(piece.type()) instanceof StreamType type)) {
            return false;
        }
        int number = piece.attempt();
        if (!callId.equals(piece.callId()) || number > attempt) {
            breakLine();
            if (type == StreamType.RESTART && !text.isEmpty()) {
                terminal.err().println("  the model is asked again");
            }
            callId = piece.callId();
            attempt = number;
            text.setLength(0);
        }
        if (type == StreamType.TEXT && number == attempt) {
            String delta = Objects.requireNonNullElse(piece.delta(), "");
            text.append(delta);
            terminal.out().print(terminal.shown(delta));
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
            terminal.out().println(terminal.shown(answer));
        }
    }
}
