package dev.millrace.schemas;

import java.util.Map;
import java.util.TreeMap;

/**
 * The types of live text: what is told of a model's reply while it is being made. They travel on
 * {@link Topics#tokens} and to HTTP clients only. They are no facts: never on a lane, never in the journal, never a
 * reason for anything.
 */
public enum StreamType implements EventType {
    START("stream.start", Payload.StreamStart.class, "A model is asked; its reply follows piece by piece."),
    RESTART(
            "stream.restart",
            Payload.StreamRestart.class,
            "The model is asked again for the same call; what came before is void."),
    TEXT("stream.text", Payload.StreamDelta.class, "More of the answer."),
    REASONING("stream.reasoning", Payload.StreamDelta.class, "More of what the model thinks aloud."),
    TOOL_CALL(
            "stream.tool_call",
            Payload.StreamToolCall.class,
            "More of a tool call that the model is about to ask for."),
    COMPLETED("stream.completed", Payload.StreamCompleted.class, "The reply is whole."),
    ERROR(
            "stream.error",
            Payload.StreamError.class,
            "The call has failed for good, or nobody wants its reply any more."),
    // nobody reads it
    TOKEN(
            "TOKEN",
            Payload.Unknown.class,
            "More of the answer, in the plainest form; made by the gateway and on no topic.");

    /** Another name of {@link #TOOL_CALL}; accepted, never written. */
    private static final String TOOL_CALL_ALIAS = "stream.tool.call";

    static final Map<String, StreamType> BY_NAME = byName();

    private final String wireName;
    private final Class<? extends Payload> payload;
    private final String summary;

    StreamType(String wireName, Class<? extends Payload> payload, String summary) {
        this.wireName = wireName;
        this.payload = payload;
        this.summary = summary;
    }

    @Override
    public String wireName() {
        return wireName;
    }

    /** Of no use, since nothing of this is ever in a queue: the last one of the cognitive segment. */
    @Override
    public int code() {
        return 399;
    }

    /** What an event of this type says, field by field. */
    Class<? extends Payload> payload() {
        return payload;
    }

    /** What an event of this type says, in one sentence. */
    public String summary() {
        return summary;
    }

    /** Whether nothing more comes for the call after it. */
    public boolean ends() {
        return this == COMPLETED || this == ERROR;
    }

    @Override
    public String toString() {
        return wireName;
    }

    private static Map<String, StreamType> byName() {
        Map<String, StreamType> names = new TreeMap<>();
        for (StreamType type : values()) {
            names.put(type.wireName, type);
        }
        names.put(TOOL_CALL_ALIAS, TOOL_CALL);
        return Map.copyOf(names);
    }
}
