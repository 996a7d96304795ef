package dev.millrace.gateway.rest.memory;

import dev.millrace.api.MemoryPage;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.Memory;
import dev.millrace.gateway.kafka.MemoryVersion;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.memory.MemoryEdits.Asked;
import dev.millrace.gateway.rest.memory.MemoryEdits.Place;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.headers.Header;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** How documents of memory have been, and the way back. */
@Path("/v1/memory")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Memory", description = "What agents remember: documents of markdown, by namespace.")
public class MemoryVersionsResource {

    private final Memory memory;
    private final MemoryEdits edits;
    private final GatewayConfig config;

    @Inject
    MemoryVersionsResource(Memory memory, MemoryEdits edits, GatewayConfig config) {
        this.memory = memory;
        this.edits = edits;
        this.config = config;
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{namespace}/{path: .+}/versions")
    @Operation(
            summary = "The versions of a document",
            description = "When each was written, and by whom; also of one that is gone. The newest first.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = MemoryPage.Versions.class)))
    @APIResponse(responseCode = "400", description = "bad_path")
    @APIResponse(responseCode = "404", description = "unknown_document")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response versions(@PathParam("namespace") String namespace, @PathParam("path") String path)
            throws BrokerUnavailableException, InterruptedException {
        Place place = Place.of(namespace, path);
        List<MemoryVersion> history = memory.history(place.namespace(), place.path(), config.produceTimeout());
        if (history.isEmpty()) {
            throw place.unknown();
        }
        return Response.ok(Json.writeText(new MemoryPage.Versions(
                        place.namespace(),
                        place.path(),
                        history.stream().map(MemoryEdits::view).toList())))
                .build();
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{namespace}/{path: .+}/versions/{version}")
    @Produces(MemoryResource.MARKDOWN + ";charset=UTF-8")
    @Operation(summary = "A document as it was")
    @APIResponse(
            responseCode = "200",
            content = @Content(mediaType = MemoryResource.MARKDOWN, schema = @Schema(type = SchemaType.STRING)))
    @APIResponse(responseCode = "400", description = "bad_path, bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_version")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response version(
            @PathParam("namespace") String namespace,
            @PathParam("path") String path,
            @PathParam("version") String version)
            throws BrokerUnavailableException, InterruptedException {
        return MemoryResource.markdown(content(Place.of(namespace, path), version));
    }

    @POST
    @Needs(Permission.MEMORY)
    @Path("/{namespace}/{path: .+}/versions/{version}/restore")
    @Operation(
            summary = "Make a document what it was",
            description =
                    "That is a new version with the content of this one. If-Match as for writing it. There is no body; an"
                            + " empty JSON object counts as none.")
    @Parameter(
            name = "If-Match",
            in = ParameterIn.HEADER,
            description = MemoryResource.IF_MATCH,
            schema = @Schema(type = SchemaType.STRING))
    @Parameter(
            name = "If-None-Match",
            in = ParameterIn.HEADER,
            description = MemoryResource.IF_NONE_MATCH,
            schema = @Schema(type = SchemaType.STRING))
    @Parameter(
            name = "Idempotency-Key",
            in = ParameterIn.HEADER,
            description = MemoryResource.IDEMPOTENCY_KEY,
            schema = @Schema(type = SchemaType.STRING))
    @RequestBody(
            description = "None, or an empty object.",
            content = @Content(mediaType = MediaType.APPLICATION_JSON, schema = @Schema(type = SchemaType.OBJECT)))
    @APIResponse(
            responseCode = "200",
            description = "It is written.",
            headers =
                    @Header(
                            name = "ETag",
                            description = MemoryResource.ETAG,
                            schema = @Schema(type = SchemaType.STRING)),
            content = @Content(schema = @Schema(implementation = MemoryPage.Version.class)))
    @APIResponse(
            responseCode = "201",
            description = "The same, and the document was gone before.",
            content = @Content(schema = @Schema(implementation = MemoryPage.Version.class)))
    @APIResponse(
            responseCode = "202",
            description = "It is stored, and the writer does not answer in time; it will come to it.",
            content = @Content(schema = @Schema(implementation = MemoryPage.EditAccepted.class)))
    @APIResponse(responseCode = "400", description = "bad_path, bad_parameter, bad_json, unknown_field")
    @APIResponse(responseCode = "404", description = "unknown_version")
    @APIResponse(responseCode = "409", description = "memory_full: take documents away first")
    @APIResponse(responseCode = "412", description = "precondition_failed: it is another one by now")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response restore(
            InputStream body,
            @PathParam("namespace") String namespace,
            @PathParam("path") String path,
            @PathParam("version") String version,
            @Parameter(description = "Who you are, for the history. Believed, not checked.") @QueryParam("by") @Nullable
                    String by,
            @Parameter(description = "How long to wait for the writer, such as 10s (the default); at most 120 s.")
                    @QueryParam("wait")
                    @Nullable
                    String wait,
            @Context HttpHeaders headers)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException, IOException {
        Place place = Place.of(namespace, path);
        edits.requireNoFields(body, headers);
        return edits.edit(place, content(place, version).content(), new Asked(by, wait, headers));
    }

    private Memory.Content content(Place place, String version)
            throws BrokerUnavailableException, InterruptedException {
        int number = Parameters.number("version", version, Integer.MAX_VALUE);
        Memory.Content found = memory.read(place.namespace(), place.path(), number, config.produceTimeout())
                .orElseThrow(() -> unknown("No version " + number + " of " + place.path() + " is kept in the namespace "
                        + place.namespace() + "."));
        if (found.about().deleted()) {
            throw unknown("Version " + number + " of " + place.path() + " is that it was taken away by "
                    + found.about().updatedBy() + "; it has no content.");
        }
        return found;
    }

    private static ProblemException unknown(String detail) {
        return new ProblemException(Problem.of(404, "unknown_version", "Unknown version", detail));
    }
}
