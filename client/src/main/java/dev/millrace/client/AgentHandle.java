package dev.millrace.client;

import dev.millrace.api.AgentView;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An agent, by its name, and perhaps a conversation with it. Making one asks nobody. */
public final class AgentHandle {

    private final Millrace millrace;
    private final String name;
    private final @Nullable String session;

    AgentHandle(Millrace millrace, String name, @Nullable String session) {
        this.millrace = millrace;
        this.name = name;
        this.session = session;
    }

    /** The same agent in this conversation. */
    public AgentHandle session(String sessionId) {
        return new AgentHandle(millrace, name, sessionId);
    }

    /** The agent as it is now. */
    public AgentView get() {
        return millrace.http().get(new Route("/v1/agents").at(name), AgentView.class);
    }

    /** Gives it a task. */
    public TaskHandle start(String text) {
        return start(text, more -> {});
    }

    /** The same, with more to say about it. */
    public TaskHandle start(String text, Consumer<TaskStart> more) {
        return millrace.start(text, start -> more.accept(start.agent(name).session(session)));
    }
}
