package dev.millrace.gateway.rest.turns;

import dev.millrace.api.AgentView;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The agents whose files say that they can be had by one of other people's protocols. */
@Singleton
public class ExposedAgents {
    private final AgentClient client;

    @Inject
    ExposedAgents(AgentClient client) {
        this.client = client;
    }

    /** All that can be had by this one. */
    public List<AgentView> by(String protocol) throws QueryUnavailableException, InterruptedException {
        return client.get(AgentClient.path("agents"), Map.of()).as(AgentView.All.class).agents().stream()
                .filter(agent -> agent.isExposedBy(protocol))
                .toList();
    }

    /** The one of this name. */
    public Optional<AgentView> by(String protocol, String name) throws QueryUnavailableException, InterruptedException {
        return by(protocol).stream().filter(agent -> agent.name().equals(name)).findFirst();
    }
}
