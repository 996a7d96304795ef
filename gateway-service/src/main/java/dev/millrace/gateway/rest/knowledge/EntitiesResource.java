package dev.millrace.gateway.rest.knowledge;

import dev.millrace.api.KnowledgeView;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.query.Knowledge;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.http.client.AgentClient;
import dev.millrace.schemas.Event;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.LinkedHashMap;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Entities that texts mention, and what has to do with what. */
@Path("/v1/knowledge")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Knowledge", description = "Documents that agents and people look things up in.")
public class EntitiesResource {

    private static final int MAX_PAGE = 500;
    private static final int MAX_NODES = 200;
    private static final int MAX_DEPTH = 3;

    private final Knowledge knowledge;

    @Inject
    EntitiesResource(Knowledge knowledge) {
        this.knowledge = knowledge;
    }

    @GET
    @Needs(Permission.READ)
    @Path("/entities")
    @Operation(
            summary = "Entities that texts mention",
            description = "The best first if something is looked for (50 at most), else by id, in pages.")
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = KnowledgeView.Entities.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "knowledge_unavailable")
    public Response entities(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "A name, or words for what it is; absent = all.") @QueryParam("q") @Nullable
                    String text,
            @Parameter(description = "Of this kind alone, such as person.") @QueryParam("type") @Nullable String type,
            @Parameter(description = "Of this scope alone: global, agent:NAME, thread:ID or a name of your own.")
                    @QueryParam("scope")
                    @Nullable
                    String scope,
            @Parameter(description = "1 to 500", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "100"))
                    @QueryParam("limit")
                    @DefaultValue("100")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("after") @Nullable String after)
            throws InterruptedException {
        Map<String, @Nullable String> query = new LinkedHashMap<>();
        query.put("namespace", namespace);
        query.put("q", text);
        query.put("type", type);
        query.put("scope", scope);
        query.put("limit", Integer.toString(Parameters.number("limit", limit, MAX_PAGE)));
        query.put("after", after);
        return KnowledgeAnswers.get(knowledge, AgentClient.path("knowledge", "entities"), query);
    }

    @GET
    @Needs(Permission.READ)
    @Path("/graph")
    @Operation(
            summary = "What has to do with what",
            description =
                    "What is near an entity, a text, a document or a chunk: MENTIONS, RELATED_TO, NEXT_CHUNK and PART_OF.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = KnowledgeView.Graph.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_node")
    @APIResponse(responseCode = "503", description = "knowledge_unavailable")
    public Response graph(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "entity:ID, source:ID, document:ID or chunk:DOCUMENT/NUMBER.")
                    @QueryParam("from")
                    @Nullable
                    String from,
            @Parameter(
                            description = "How many edges away, 1 to 3",
                            schema = @Schema(type = SchemaType.INTEGER, defaultValue = "1"))
                    @QueryParam("depth")
                    @DefaultValue("1")
                    String depth,
            @Parameter(
                            description = "At most so many nodes, 1 to 200",
                            schema = @Schema(type = SchemaType.INTEGER, defaultValue = "100"))
                    @QueryParam("limit")
                    @DefaultValue("100")
                    String limit)
            throws InterruptedException {
        if (from == null || from.isBlank()) {
            throw ProblemException.badParameter("from", "a node", from == null ? "" : from);
        }
        Map<String, @Nullable String> query = new LinkedHashMap<>();
        query.put("namespace", namespace);
        query.put("from", from);
        query.put("depth", Integer.toString(Parameters.number("depth", depth, MAX_DEPTH)));
        query.put("limit", Integer.toString(Parameters.number("limit", limit, MAX_NODES)));
        return KnowledgeAnswers.get(knowledge, AgentClient.path("knowledge", "graph"), query);
    }
}
