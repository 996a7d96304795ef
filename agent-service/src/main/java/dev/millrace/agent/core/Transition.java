package dev.millrace.agent.core;

import java.util.ArrayList;
import java.util.List;

/**
 * The machine's answer.
 *
 * @param next the state after the event
 * @param effects what is to be done, in order
 */
public record Transition(TaskState next, List<Effect> effects) {

    public Transition {
        effects = List.copyOf(effects);
    }

    static Transition to(TaskState next, Effect... effects) {
        return new Transition(next, List.of(effects));
    }

    /** The same with these effects first. */
    Transition after(List<Effect> earlier) {
        List<Effect> all = new ArrayList<>(earlier);
        all.addAll(effects);
        return new Transition(next, all);
    }

    /** Whether the event was taken; {@code false} = the only effect is a {@link Effect.Discard}. */
    public boolean accepted() {
        return !(effects.size() == 1 && effects.getFirst() instanceof Effect.Discard);
    }
}
