package dev.millrace.gateway.webhook;

import java.util.Map;
import java.util.Optional;

/** The systems whose webhooks are taken. */
public final class WebhookSources {

    private final Map<String, WebhookSource> byName;

    /** Those, by their name in the route. */
    public WebhookSources(Map<String, WebhookSource> byName) {
        this.byName = Map.copyOf(byName);
    }

    /** The one of this name. */
    public Optional<WebhookSource> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }
}
