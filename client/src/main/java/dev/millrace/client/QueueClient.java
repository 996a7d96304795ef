package dev.millrace.client;

import dev.millrace.api.QueueItem;
import java.util.Map;
import java.util.stream.Stream;

/** What was accepted, as items of a queue, in which higher priorities go first; docs/queue.md. */
public final class QueueClient {

    private final Millrace millrace;

    QueueClient(Millrace millrace) {
        this.millrace = millrace;
    }

    /** All of the namespace, the newest first. */
    public Stream<QueueItem> all() {
        return items(queue());
    }

    /** Those of this status, such as {@code failed}. */
    public Stream<QueueItem> withStatus(String status) {
        return items(queue().with("status", status));
    }

    /** Those of a session. */
    public Stream<QueueItem> ofSession(String sessionId) {
        return items(queue().with("sessionId", sessionId));
    }

    /** Those of a session that wait for their turn, the next one first. */
    public Stream<QueueItem> waiting(String sessionId) {
        return items(queue().with("sessionId", sessionId).with("order", "work"));
    }

    /** One of them. */
    public QueueItem get(String eventId) {
        return millrace.http().get(with(at(eventId)), QueueItem.class);
    }

    /**
     * Puts an event in; the same id a second time changes nothing.
     *
     * @param event its namespace goes before that of this client
     */
    public QueueItem.Queued put(String sessionId, QueueItem.Request event) {
        return millrace.http()
                .post(
                        new Route("/v1/sessions").at(sessionId).at("queue"),
                        event.namespace() == null ? event.inNamespace(millrace.namespace()) : event,
                        QueueItem.Queued.class);
    }

    /** Sends what is failed, expired or cancelled once more, as it was. */
    public QueueItem.Queued retry(String eventId) {
        return GatewayHttp.as(
                millrace.http().postNothing(with(at(eventId).at("retry")), Map.of()), QueueItem.Queued.class);
    }

    /** The same with another payload in place of its own. */
    public QueueItem.Queued retry(String eventId, Map<String, ?> payload) {
        return millrace.http().post(with(at(eventId).at("retry")), Map.of("payload", payload), QueueItem.Queued.class);
    }

    private Stream<QueueItem> items(Route route) {
        return millrace.http().items(route, "cursor", "items", QueueItem.class);
    }

    private Route queue() {
        return with(new Route("/v1/queue"));
    }

    private static Route at(String eventId) {
        return new Route("/v1/queue").at(eventId);
    }

    private Route with(Route route) {
        return route.with("namespace", millrace.namespace());
    }
}
