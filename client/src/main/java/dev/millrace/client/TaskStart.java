package dev.millrace.client;

import dev.millrace.api.Task;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What is said of a task beside its text. All of it may be left out. */
public final class TaskStart {

    private String id = UUID.randomUUID().toString();
    private @Nullable String agent;
    private @Nullable String session;
    private @Nullable Map<String, @Nullable Object> metadata;
    private @Nullable Integer priority;
    private @Nullable String model;
    private @Nullable String callbackUrl;
    private @Nullable Duration ttl;
    private @Nullable List<String> participants;
    private @Nullable String sender;

    TaskStart() {}

    /**
     * Your own id of the task: starting with the same one again, within a day, makes no second task. At first it is
     * drawn.
     */
    public TaskStart id(String own) {
        this.id = own;
        return this;
    }

    /** The agent that is to do it. */
    public TaskStart agent(@Nullable String name) {
        this.agent = name;
        return this;
    }

    /** The conversation that it belongs to. */
    public TaskStart session(@Nullable String sessionId) {
        this.session = sessionId;
        return this;
    }

    /** Kept with the task; the agent's prompt finds it as {@code {{input.metadata.KEY}}}. */
    public TaskStart metadata(Map<String, ? extends @Nullable Object> values) {
        this.metadata = Collections.unmodifiableMap(new LinkedHashMap<>(values));
        return this;
    }

    /** Lower goes first, 100 to 999. */
    public TaskStart priority(int value) {
        this.priority = value;
        return this;
    }

    /** Name of a configured model, in place of the agent's own. */
    public TaskStart model(String name) {
        this.model = name;
        return this;
    }

    /** Where notifications about the task are posted to. */
    public TaskStart callbackUrl(String url) {
        this.callbackUrl = url;
        return this;
    }

    /** A task that has not begun after so long is no longer worth it. */
    public TaskStart ttl(Duration limit) {
        this.ttl = limit;
        return this;
    }

    /**
     * Who takes part in the session from now on: agents by name, and {@code user} for people. Without an agent the text
     * goes to those that it mentions with {@code @name}.
     */
    public TaskStart participants(List<String> names) {
        this.participants = List.copyOf(names);
        return this;
    }

    /** What the person is called who says it; agents are shown it. */
    public TaskStart sender(String name) {
        this.sender = name;
        return this;
    }

    Task.Request request(String text, String namespace) {
        return new Task.Request(
                text,
                null,
                agent,
                session,
                namespace,
                metadata,
                priority,
                model,
                callbackUrl,
                ttl == null ? null : ttl.toMillis(),
                null,
                id,
                participants,
                sender);
    }
}
