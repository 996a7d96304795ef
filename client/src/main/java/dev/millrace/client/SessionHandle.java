package dev.millrace.client;

import dev.millrace.api.Session;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A conversation, by its id. Making one asks nobody; one begins with its first task, or with {@link
 * Millrace#newSession}.
 */
public final class SessionHandle {

    private final Millrace millrace;
    private final String id;

    SessionHandle(Millrace millrace, String id) {
        this.millrace = millrace;
        this.id = id;
    }

    public String id() {
        return id;
    }

    /** The session as it is now. */
    public Session get() {
        return millrace.http().get(route(), Session.class);
    }

    /** An agent in this conversation. */
    public AgentHandle agent(String name) {
        return new AgentHandle(millrace, name, id);
    }

    /** Gives a task to the default agent. */
    public TaskHandle start(String text) {
        return start(text, more -> {});
    }

    /** The same, with more to say about it. */
    public TaskHandle start(String text, Consumer<TaskStart> more) {
        return millrace.start(text, start -> more.accept(start.session(id)));
    }

    /** Says something: it answers the question that a task waits with, or else begins a task. */
    public Session.Prompted prompt(String content) {
        return millrace.http()
                .post(
                        new Route("/v1/sessions").at(id).at("prompt").with("namespace", millrace.namespace()),
                        new Session.Prompt(content),
                        Session.Prompted.class);
    }

    /** The newest messages, 1 to 1000 of them, the oldest of those first. */
    public List<Session.Message> messages(int limit) {
        return millrace.http()
                .get(
                        new Route("/v1/sessions")
                                .at(id)
                                .at("messages")
                                .with("namespace", millrace.namespace())
                                .with("limit", limit),
                        Session.Messages.class)
                .messages();
    }

    /**
     * What happens to its tasks, those to come included. Begins now, unless {@code watch} has a cursor, and does not
     * end.
     */
    public TaskFeed events(Watch watch) {
        Route stream = new Route("/v1/sessions").at(id).at("stream").with("namespace", millrace.namespace());
        return TaskFeed.open(millrace, watch.on(stream), watch.cursor());
    }

    /** Stops what is under way. */
    public Session.Interrupted interrupt() {
        return GatewayHttp.as(
                millrace.http()
                        .postNothing(
                                new Route("/v1/sessions")
                                        .at(id)
                                        .at("interrupt")
                                        .with("namespace", millrace.namespace()),
                                Map.of()),
                Session.Interrupted.class);
    }

    /** Has it forgotten, with all its tasks. */
    public Session.Deleted delete() {
        return GatewayHttp.as(millrace.http().delete(route(), Map.of()), Session.Deleted.class);
    }

    private Route route() {
        return new Route("/v1/sessions").at(id).with("namespace", millrace.namespace());
    }
}
