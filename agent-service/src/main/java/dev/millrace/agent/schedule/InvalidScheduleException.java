package dev.millrace.agent.schedule;

import java.util.List;

/** A schedule that is none, with what was expected and found. */
public final class InvalidScheduleException extends Exception {
    private static final long serialVersionUID = 1L;

    private final List<String> problems;

    /** At least one sentence for people, each naming its field. */
    public InvalidScheduleException(List<String> problems) {
        super(String.join("; ", problems));
        this.problems = List.copyOf(problems);
    }

    /** The sentences. */
    public List<String> problems() {
        return problems;
    }
}
