package dev.millrace.gateway.rest.catalogue;

import dev.millrace.api.NamespaceList;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.Memory;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Json;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Tenants in which there is something. */
@Path("/v1/namespaces")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "System", description = "The installation as a whole.")
public class NamespacesResource {
    private static final int MAX_NAMES = 1_000;
    /** No more are asked for of memory; agent-service has a limit of its own. */
    private static final int MOST = 10_000;

    private final AgentClient agentService;
    private final Memory memory;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    NamespacesResource(AgentClient agentService, Memory memory, Access access, GatewayConfig config) {
        this.agentService = agentService;
        this.memory = memory;
        this.access = access;
        this.config = config;
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.ANYWHERE)
    @Operation(
            summary = "The namespaces in which there is something",
            description = "Tasks, sessions or memory; only those that the caller may read in. At most 10 000 of each"
                    + " kind are looked at.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = NamespaceList.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "query_unavailable, broker_unavailable")
    public Response namespaces(
            @Parameter(description = "1 to 1000", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "200"))
                    @QueryParam("limit")
                    @DefaultValue("200")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("cursor") @DefaultValue("")
                    String cursor)
            throws QueryUnavailableException, BrokerUnavailableException, InterruptedException {
        int most = Parameters.number("limit", limit, MAX_NAMES);
        SortedSet<String> all =
                new TreeSet<>(memory.extents("", MOST, config.produceTimeout()).keySet());
        all.addAll(agentService
                .get(AgentClient.path("namespaces"), Map.of())
                .as(NamespaceList.class)
                .namespaces());
        List<String> seen = all.stream()
                .filter(namespace -> namespace.compareTo(cursor) > 0 && access.may(namespace, Permission.READ))
                .limit(most + 1L)
                .toList();
        List<String> page = seen.subList(0, Math.min(most, seen.size()));
        return Response.ok(Json.writeText(new NamespaceList(page, seen.size() > most ? page.getLast() : null)))
                .build();
    }
}
