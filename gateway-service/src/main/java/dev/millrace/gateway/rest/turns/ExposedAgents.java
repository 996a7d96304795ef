package dev.millrace.gateway.rest.turns;

import dev.millrace.api.AgentView;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;

/** The agents whose files say that they can be had by one of other people's protocols. */
@Singleton
public class ExposedAgents {
    private final AgentClient client;
    private final Access access;

    @Inject
    ExposedAgents(AgentClient client, Access access) {
        this.client = client;
        this.access = access;
    }

    /** All that whoever makes this request can have by this one. */
    public List<AgentView> by(String protocol) throws QueryUnavailableException, InterruptedException {
        return client.get(AgentClient.path("agents"), access.whose()).as(AgentView.All.class).agents().stream()
                .filter(agent -> agent.isExposedBy(protocol))
                .toList();
    }

    /** The one of this name. */
    public Optional<AgentView> by(String protocol, String name) throws QueryUnavailableException, InterruptedException {
        return by(protocol).stream().filter(agent -> agent.name().equals(name)).findFirst();
    }
}
