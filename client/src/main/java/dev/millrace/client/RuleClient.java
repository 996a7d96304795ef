package dev.millrace.client;

import dev.millrace.api.RuleView;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What follows from events of the outside world; docs/rules.md says what a rule can say. */
public final class RuleClient {

    private final GatewayHttp http;

    RuleClient(GatewayHttp http) {
        this.http = http;
    }

    /** Those that are in force, by priority. */
    public List<RuleView> all() {
        return http.get(new Route("/v1/rules"), RuleView.All.class).rules();
    }

    /** One of them. */
    public RuleView get(String id) {
        return http.get(new Route("/v1/rules").at(id), RuleView.class);
    }

    /** Defines one, in place of one of that id. */
    public void put(String id, Map<String, ? extends @Nullable Object> rule) {
        http.put(new Route("/v1/rules").at(id), rule);
    }

    /** Takes a definition away; what a file or the installation says of that id is in force again. */
    public void delete(String id) {
        http.delete(new Route("/v1/rules").at(id), Map.of());
    }
}
