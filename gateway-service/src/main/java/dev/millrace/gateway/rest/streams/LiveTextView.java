package dev.millrace.gateway.rest.streams;

import dev.millrace.api.PlainToken;
import dev.millrace.gateway.kafka.FactListener.Heard;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.streams.EventStream.Shown;
import dev.millrace.gateway.rest.tasks.TaskWaiter;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a client wants of live text, and how it is shown to it. For one stream. */
final class LiveTextView implements EventStream.View {
    /** What the parameter {@code tokens} means, for the OpenAPI document. */
    static final String TOKENS = "Live text as well: stream = all of it, plain = the text alone. Default none.";

    private final Form form;
    private final Set<String> types;
    /** By call: who asked the model, as far as that was told. */
    private final Map<String, String> agents = new HashMap<>();

    /** In which form. */
    enum Form {
        /** Not at all. */
        NONE,
        /** {@code stream.*}: everything. */
        STREAM,
        /** {@code TOKEN}: the text alone. */
        PLAIN
    }

    /**
     * In this form.
     *
     * @param types what is shown, facts and live text; empty = everything. If it names no live text, all of that is
     */
    LiveTextView(Form form, Set<String> types) {
        this.form = form;
        this.types = types;
    }

    /**
     * Reads the parameters {@code tokens} and {@code types}.
     *
     * @throws ProblemException if the first is none of those that there are
     */
    static LiveTextView of(@Nullable String tokens, @Nullable String types) {
        Form form =
                switch (tokens == null ? "none" : tokens.strip()) {
                    case "none", "false" -> Form.NONE;
                    case "stream", "true", "" -> Form.STREAM;
                    case "plain" -> Form.PLAIN;
                    case String other -> throw ProblemException.badParameter("tokens", "stream, plain or none", other);
                };
        return new LiveTextView(form, Parameters.set(types));
    }

    /** Whether any is wanted. */
    boolean wanted() {
        return form != Form.NONE;
    }

    /** What has to be listened to. */
    JournalFilter filter() {
        return wanted() ? labels -> true : JournalFilter.types(types); // the end of a call tells what its live text is
    }

    @Override
    public Optional<Shown> shown(Heard heard) {
        return heard.live() ? piece(heard.event()) : fact(heard.entry());
    }

    /** A fact as the client gets it; empty = it does not want to see it. */
    Optional<Shown> fact(JournalEntry entry) {
        return shows(entry)
                ? Optional.of(new Shown(entry.event().type().wireName(), entry.toJson()))
                : Optional.empty();
    }

    /** Whether the client wants to see this fact. */
    boolean shows(JournalEntry entry) {
        return shows(entry.event().type());
    }

    /** Whether it wants to see how a task ends, however it does. */
    boolean showsEveryEnd() {
        return TaskWaiter.ENDS.stream().allMatch(this::shows);
    }

    private boolean shows(EventType type) {
        return types.isEmpty() || types.contains(type.wireName());
    }

    private Optional<Shown> piece(Event event) {
        if (!(event.payload() instanceof Payload.LiveText piece && event.type() instanceof StreamType type)) {
            return Optional.empty();
        }
        String call = piece.callId();
        String agent =
                switch (piece) {
                    case Payload.StreamStart start -> start.agentName();
                    case Payload.StreamRestart restart -> restart.agentName();
                    default -> null;
                };
        if (agent != null) {
            agents.put(call, agent);
        }
        Optional<Shown> shown =
                form == Form.PLAIN ? plain(type, event, piece, agents.get(call)) : Optional.of(whole(type, event));
        if (type.ends()) {
            agents.remove(call);
        }
        return shown.filter(one -> passes(one.name()));
    }

    private boolean passes(String name) {
        boolean named = Arrays.stream(StreamType.values()).anyMatch(type -> types.contains(type.wireName()));
        return !named || types.contains(name);
    }

    private static Shown whole(StreamType type, Event event) {
        boolean usual = event.namespace().equals(Event.DEFAULT_NAMESPACE);
        return new Shown(
                type.wireName(),
                JsonObject.builder()
                        .put("type", type.wireName())
                        .put("timestamp", event.timestamp().toEpochMilli())
                        .put("taskId", event.taskId())
                        .putIfPresent("namespace", usual ? null : event.namespace())
                        .putIfPresent("sessionId", event.sessionId())
                        .putAll(event.fields())
                        .build());
    }

    private static Optional<Shown> plain(StreamType type, Event event, Payload.LiveText piece, @Nullable String agent) {
        return switch (piece) {
            case Payload.StreamDelta delta
            when type == StreamType.TEXT -> Optional.of(token(event, delta, delta.delta(), false, agent));
            case Payload.StreamCompleted completed -> Optional.of(token(event, completed, "", true, agent));
            case Payload.StreamRestart restart -> Optional.of(whole(type, event));
            case Payload.StreamError error -> Optional.of(whole(type, event));
            case Payload.StreamStart start -> Optional.empty();
            case Payload.StreamDelta reasoning -> Optional.empty();
            case Payload.StreamToolCall call -> Optional.empty();
        };
    }

    private static Shown token(
            Event event, Payload.LiveText piece, String text, boolean complete, @Nullable String agent) {
        return new Shown(
                StreamType.TOKEN.wireName(),
                new PlainToken(
                        StreamType.TOKEN.wireName(),
                        event.timestamp().toEpochMilli(),
                        event.taskId(),
                        event.namespace().equals(Event.DEFAULT_NAMESPACE) ? null : event.namespace(),
                        text,
                        complete,
                        event.sessionId(),
                        agent,
                        piece.callId(),
                        piece.attempt()));
    }
}
