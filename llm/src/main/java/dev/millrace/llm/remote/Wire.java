package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.llm.ModelCallException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One provider's HTTP API: what it is sent, and what it answers. Stateless. */
interface Wire {

    /** Where a model is asked, below the base URL. */
    String path(String model, boolean streamed);

    /** The headers that are this provider's own, the key among them; null = no key. */
    Map<String, String> headers(@Nullable String key);

    /** The body of a request. */
    ObjectNode body(Question question, boolean streamed);

    /** Reads a whole reply, or one piece of a stream. */
    void read(JsonNode json, ReplyDraft draft) throws ModelCallException;

    /** Whether a stream is one JSON object per line; else it is server-sent events. */
    default boolean streamsLines() {
        return false;
    }
}
