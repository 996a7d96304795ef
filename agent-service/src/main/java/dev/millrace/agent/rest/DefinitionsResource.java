package dev.millrace.agent.rest;

import dev.millrace.api.AgentView;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the gateway asks about agents and tools. Internal, like {@link QueryResource}; in a process without them there
 * are none.
 */
@Path("/internal")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
public class DefinitionsResource {

    private final Instance<AgentCatalogue> catalogue;

    @Inject
    public DefinitionsResource(Instance<AgentCatalogue> catalogue) {
        this.catalogue = catalogue;
    }

    /** The agents that take tasks, and the files of this instance that are no good. */
    @GET
    @Path("/agents")
    public Response agents(@QueryParam("namespaces") @Nullable String namespaces) {
        return Answers.ok(there().map(there -> there.agents(AgentCatalogue.Whose.of(namespaces)))
                .orElse(new AgentView.All(List.of(), List.of(), null)));
    }

    /** One of them, with its prompt. */
    @GET
    @Path("/agents/{name}")
    public Response agent(
            @PathParam("name") String name, @QueryParam("namespaces") @Nullable String namespaces, UriInfo uri) {
        return there().flatMap(there -> there.agent(name, AgentCatalogue.Whose.of(namespaces)))
                .map(Answers::ok)
                .orElseGet(() -> unknownAgent(name, uri));
    }

    /** The tools that are served now; with {@code agent}, those that it may use; with {@code name}, that one alone. */
    @GET
    @Path("/tools")
    public Response tools(
            @QueryParam("agent") @Nullable String agent,
            @QueryParam("name") @Nullable String name,
            @QueryParam("namespaces") @Nullable String namespaces,
            UriInfo uri) {
        AgentCatalogue.Whose whose = AgentCatalogue.Whose.of(namespaces);
        if (name != null || agent == null || agent.isBlank()) {
            return Answers.ok(Map.of(
                    "tools",
                    there().map(there -> there.tools(whose)).orElse(List.of()).stream()
                            .filter(tool -> name == null || tool.name().equals(name))
                            .toList()));
        }
        return there().flatMap(there -> there.toolsOf(agent, whose))
                .map(tools -> Answers.ok(Map.of("tools", tools)))
                .orElseGet(() -> unknownAgent(agent, uri));
    }

    private Optional<AgentCatalogue> there() {
        return catalogue.isResolvable() ? Optional.of(catalogue.get()) : Optional.empty();
    }

    private static Response unknownAgent(String name, UriInfo uri) {
        Problem problem = Problem.of(
                404,
                "unknown_agent",
                "Unknown agent",
                "There is no agent " + name + "; /v1/agents lists those that there are.");
        return Answers.problem(problem, uri);
    }
}
