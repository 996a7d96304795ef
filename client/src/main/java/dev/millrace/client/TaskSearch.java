package dev.millrace.client;

import org.jspecify.annotations.Nullable;

/**
 * Which tasks are looked for; {@code null} = that does not matter.
 *
 * @param state such as {@code suspended}
 * @param sessionId of this conversation
 * @param agent of this agent
 * @param waitingFor such as {@code approval} or {@code answer}
 * @param text in what they were asked
 */
public record TaskSearch(
        @Nullable String state,
        @Nullable String sessionId,
        @Nullable String agent,
        @Nullable String waitingFor,
        @Nullable String text) {

    /** All. */
    public static final TaskSearch ALL = new TaskSearch(null, null, null, null, null);

    /** Those in this state. */
    public static TaskSearch inState(String state) {
        return new TaskSearch(state, null, null, null, null);
    }

    Route on(Route tasks) {
        return tasks.with("state", state)
                .with("sessionId", sessionId)
                .with("agent", agent)
                .with("waitingFor", waitingFor)
                .with("text", text);
    }
}
