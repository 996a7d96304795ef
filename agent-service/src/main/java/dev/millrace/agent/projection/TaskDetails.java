package dev.millrace.agent.projection;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/**
 * A task and how it came there.
 *
 * @param history its last moves, at most {@value #MAX_HISTORY}, the oldest first; {@link TaskView#transitions} says how
 *     many there are, and {@link TaskProjection#history} has them all
 */
public record TaskDetails(@JsonUnwrapped TaskView task, List<Move> history) {

    /** How many moves are shown with the task. */
    public static final int MAX_HISTORY = 50;

    public TaskDetails {
        history = List.copyOf(history);
    }
}
