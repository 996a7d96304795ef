package dev.millrace.client;

import dev.millrace.api.DeadLetterView;
import java.util.Map;
import java.util.stream.Stream;

/** Records that could not be read or were not taken. */
public final class DeadLetterClient {

    private final GatewayHttp http;

    DeadLetterClient(GatewayHttp http) {
        this.http = http;
    }

    /** All that are kept, the newest first. */
    public Stream<DeadLetterView> all() {
        return http.items(new Route("/v1/dead-letters"), "cursor", "deadLetters", DeadLetterView.class);
    }

    /** Those with this reason, such as {@code unknown_task}. */
    public Stream<DeadLetterView> withReason(String reason) {
        return http.items(
                new Route("/v1/dead-letters").with("reason", reason), "cursor", "deadLetters", DeadLetterView.class);
    }

    /** One of them, whole. */
    public DeadLetterView get(String cursor) {
        return http.get(new Route("/v1/dead-letters").at(cursor), DeadLetterView.class);
    }

    /** Sends one of them again, as it came. */
    public DeadLetterView.Redriven redrive(String cursor) {
        return GatewayHttp.as(
                http.postNothing(new Route("/v1/dead-letters").at(cursor).at("redrive"), Map.of()),
                DeadLetterView.Redriven.class);
    }

    /** Sends one of them again with another payload in place of its own. */
    public DeadLetterView.Redriven redrive(String cursor, Map<String, ?> payload) {
        return http.post(
                new Route("/v1/dead-letters").at(cursor).at("redrive"),
                Map.of("payload", payload),
                DeadLetterView.Redriven.class);
    }

    /**
     * Sends all of a kind again, as far as one answer goes.
     *
     * @return with {@code next}, if there may be more: what {@code cursor} of the next filter is
     */
    public DeadLetterView.AllRedriven redriveAll(DeadLetterView.Filter wanted) {
        return http.post(new Route("/v1/dead-letters").at("redrive"), wanted, DeadLetterView.AllRedriven.class);
    }

    /** Has one of them be shown no more: nothing is to become of it. */
    public DeadLetterView.Discarded discard(String cursor) {
        return GatewayHttp.as(
                http.postNothing(new Route("/v1/dead-letters").at(cursor).at("discard"), Map.of()),
                DeadLetterView.Discarded.class);
    }

    /** The same of all of a kind, as far as one answer goes; see {@link #redriveAll}. */
    public DeadLetterView.AllDiscarded discardAll(DeadLetterView.Filter wanted) {
        return http.post(new Route("/v1/dead-letters").at("discard"), wanted, DeadLetterView.AllDiscarded.class);
    }
}
