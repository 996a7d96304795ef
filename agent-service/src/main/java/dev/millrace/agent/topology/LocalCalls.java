package dev.millrace.agent.topology;

import dev.millrace.engine.UnitOfWork;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Calls of tools that only read, which are made in this process and before the commit: whoever else sees that nothing
 * came of one has lost nothing by it. What is out when the process dies is asked for by its topic then (ADR 0031). For
 * one stream thread.
 */
final class LocalCalls {

    private final KeyValueStore<String, Event> store;
    private final LocalTools tools;
    private final Predicate<String> onlyReads;
    private final Consumer<Runnable> whenKept;
    private final Consumer<Event> replies;
    /** Keys of the tasks whose they are, by their own. */
    private final Map<String, String> out = new HashMap<>();

    /**
     * As the store has them.
     *
     * @param onlyReads whether the tool of this name changes nothing
     * @param whenKept runs what others are told, as soon as what is being done is kept: {@link UnitOfWork#whenKept}
     * @param replies takes what comes of calls, on any thread
     */
    LocalCalls(
            KeyValueStore<String, Event> store,
            LocalTools tools,
            Predicate<String> onlyReads,
            Consumer<Runnable> whenKept,
            Consumer<Event> replies) {
        this.store = store;
        this.tools = tools;
        this.onlyReads = onlyReads;
        this.whenKept = whenKept;
        this.replies = replies;
        try (KeyValueIterator<String, Event> all = store.all()) {
            all.forEachRemaining(call -> out.put(call.key, taskOf(call.value)));
        }
    }

    /**
     * Makes a call as soon as the unit is kept.
     *
     * @return false if it is for others
     */
    boolean take(TaskMove.Request request) {
        Event event = request.event();
        if (!(event.payload() instanceof Payload.ToolCallRequested call)
                || !request.toolset().equals(Topics.BUILT_IN_TOOLSET)
                || !tools.serves(call.toolName())
                || !onlyReads.test(call.toolName())) {
            return false;
        }
        String key = Event.qualified(event.namespace(), call.callId());
        store.put(key, event);
        out.put(key, taskOf(event));
        whenKept.accept(() -> tools.call(event, replies));
        return true;
    }

    /** If this is the end of a call, it is out no more. */
    void settle(Event event) {
        String callId =
                switch (event.payload()) {
                    case Payload.ToolCallCompleted completed -> completed.callId();
                    case Payload.ToolCallFailed failed -> failed.callId();
                    default -> null;
                };
        String key = callId == null ? "" : Event.qualified(event.namespace(), callId);
        if (out.remove(key) != null) {
            store.put(key, null);
        }
    }

    /** Nobody is to know of the calls of this task any more. */
    void forget(String taskKey) {
        out.entrySet().removeIf(call -> {
            boolean ofTask = call.getValue().equals(taskKey);
            if (ofTask) {
                store.put(call.getKey(), null);
            }
            return ofTask;
        });
    }

    private static String taskOf(Event request) {
        return Event.qualified(request.namespace(), String.valueOf(request.taskId()));
    }

    /** Gives these calls up, as far as they are still out; they are to be asked for by their topic. */
    List<TaskMove.Request> handOn(Set<String> keys) {
        List<TaskMove.Request> requests = new ArrayList<>();
        for (String key : keys) {
            Event event = store.get(key);
            if (event != null && event.payload() instanceof Payload.ToolCallRequested call) {
                requests.add(new TaskMove.Request(Topics.BUILT_IN_TOOLSET, call.callId(), event));
            }
            store.put(key, null);
            out.remove(key);
        }
        return requests;
    }

    /** Those that are out. */
    Set<String> keys() {
        return Set.copyOf(out.keySet());
    }
}
