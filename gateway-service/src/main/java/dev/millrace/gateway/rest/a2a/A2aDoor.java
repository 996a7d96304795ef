package dev.millrace.gateway.rest.a2a;

import dev.millrace.api.AgentView;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.turns.ExposedAgents;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;

/** What clients of A2A can ask of an agent, whichever binding they speak. */
@Singleton
class A2aDoor {
    /** By what an agent's file says that it can be had here. */
    static final String EXPOSED = "a2a";

    private final ExposedAgents agents;
    private final A2aTasks tasks;
    private final A2aTurns turns;
    private final Access access;

    @Inject
    A2aDoor(ExposedAgents agents, A2aTasks tasks, A2aTurns turns, Access access) {
        this.agents = agents;
        this.tasks = tasks;
        this.turns = turns;
        this.access = access;
    }

    /** Whose door it is, and for which tenant. */
    record Place(String agent, String namespace) {}

    /** The agents that are here. */
    List<AgentView> agents() throws QueryUnavailableException, InterruptedException {
        return agents.by(EXPOSED);
    }

    /**
     * The agent.
     *
     * @throws ProblemException if there is none of this name that can be had here
     */
    AgentView agent(String name) throws QueryUnavailableException, InterruptedException {
        return agents.by(EXPOSED, name)
                .orElseThrow(() -> new ProblemException(Problem.of(
                        404,
                        "unknown_agent",
                        "Unknown agent",
                        "There is no agent of this name whose file says expose: [a2a].")));
    }

    /** The place, if there is such an agent. */
    Place place(String agent, String namespace) throws QueryUnavailableException, InterruptedException {
        return new Place(agent(agent).name(), namespace);
    }

    /** The same, for who reads: they may have been let in as one who writes. */
    Place readable(String agent, String namespace) throws QueryUnavailableException, InterruptedException {
        return readable(place(agent, namespace));
    }

    /** The place, if the caller may read there. */
    Place readable(Place place) {
        access.require(place.namespace(), Permission.READ);
        return place;
    }

    /** See {@link A2aTurns#turn}. */
    A2aTurns.Turn turn(A2aSend send, Place place) throws QueryUnavailableException, InterruptedException {
        return turns.turn(send, place);
    }

    /** See {@link A2aTasks#task}. */
    A2aTask task(Place place, String taskId) throws QueryUnavailableException, InterruptedException {
        return tasks.task(place, taskId);
    }

    /** See {@link A2aTasks#list}. */
    A2aTask.Page list(Place place, A2aTasks.Listing listing) throws QueryUnavailableException, InterruptedException {
        return tasks.list(place, listing);
    }

    /** See {@link A2aTasks#current}. */
    Event current(Place place, String taskId) throws QueryUnavailableException, InterruptedException {
        return tasks.current(place, taskId);
    }

    /** See {@link A2aTurns#cancel}. */
    A2aTask cancel(Place place, String taskId)
            throws QueryUnavailableException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        return turns.cancel(place, taskId);
    }
}
