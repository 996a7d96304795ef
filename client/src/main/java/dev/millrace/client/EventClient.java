package dev.millrace.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.api.Entry;
import java.util.List;
import java.util.Map;

/** Events: sent, and followed back to what caused them. */
public final class EventClient {

    private final Millrace millrace;

    EventClient(Millrace millrace) {
        this.millrace = millrace;
    }

    /** Sends events; returns when they are stored, with their ids in order. */
    public List<String> publish(OutsideEvent... events) {
        try {
            List<OutsideEvent> all = List.of(events).stream()
                    .map(event -> event.inNamespace(millrace.namespace()))
                    .toList();
            return GatewayHttp.as(
                            millrace.http()
                                    .post(
                                            new Route("/v1/events"),
                                            GatewayHttp.JSON.writeValueAsBytes(all),
                                            Map.of("Content-Type", "application/cloudevents-batch+json")),
                            Entry.Accepted.class)
                    .accepted();
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("data: expected what Jackson can write: " + e.getOriginalMessage(), e);
        }
    }

    /** What led to an event, the event itself last; at most the 500 nearest. */
    public List<Entry> chain(String eventId) {
        return millrace.http()
                .get(
                        new Route("/v1/events")
                                .at(eventId)
                                .at("chain")
                                .with("namespace", millrace.namespace())
                                .with("limit", 500),
                        Entry.Chain.class)
                .chain();
    }

    /** Everything that happens in the namespace. Begins now, unless {@code watch} has a cursor, and does not end. */
    public TaskFeed all(Watch watch) {
        return TaskFeed.open(
                millrace, watch.on(new Route("/v1/stream").with("namespace", millrace.namespace())), watch.cursor());
    }
}
