package dev.millrace.tools.tasks;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Size;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Tools about events of the journal, of the caller's namespace only. */
public final class EventTools {

    private static final int MOST = 20;
    /** As much of the payloads as is told, all together, in characters of JSON. */
    static final int MAX_PAYLOADS = 200_000;

    private final TaskQueries queries;

    public EventTools(TaskQueries queries) {
        this.queries = queries;
    }

    /** An event as rules show it to agents. */
    record Shown(
            @JsonProperty("event_id") String eventId,
            @JsonProperty("event_type") String eventType,
            String timestamp,
            JsonObject metadata,
            Object payload) {}

    /** What was found; {@code unknown} is left out if everything was. */
    record Answer(
            List<Shown> events,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> unknown) {}

    @Tool(
            name = "get_event_info",
            value =
                    "Tells of events that have happened, by their ids: type, time, where each comes from, and what it brings.",
            sideEffects = SideEffects.READ_ONLY)
    Answer info(
            @Param(name = "event_ids", value = "Ids of the events, as they were observed.") @Size(min = 1, max = MOST)
                    List<@Size(min = 1, max = 200) String> ids,
            ToolContext context)
            throws ToolException, InterruptedException {
        List<Shown> events = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (String id : new LinkedHashSet<>(ids)) {
            Optional<Event> event = queries.event(context.namespace(), id);
            if (event.isPresent()) {
                events.add(shown(event.get(), MAX_PAYLOADS / ids.size()));
            } else {
                unknown.add(id);
            }
        }
        return new Answer(events, unknown);
    }

    private static Shown shown(Event event, int maxPayload) {
        JsonObject metadata = JsonObject.builder()
                .putAll(JsonObject.of(event.extensions()).without(Set.of(Extensions.RULE)))
                .put("source", event.source())
                .putIfPresent("trigger_session_id", event.sessionId())
                .build();
        JsonObject fields = event.fields();
        String payload = Json.writeText(fields);
        return new Shown(
                event.id(),
                event.type().wireName(),
                event.timestamp().toString(),
                metadata,
                payload.length() <= maxPayload ? fields : Map.of("truncated", JsonText.cut(payload, maxPayload)));
    }
}
