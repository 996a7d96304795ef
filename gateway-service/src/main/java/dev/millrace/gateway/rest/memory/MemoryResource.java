package dev.millrace.gateway.rest.memory;

import dev.millrace.api.MemoryPage;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.Memory;
import dev.millrace.gateway.kafka.MemoryVersion;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.memory.MemoryEdits.Asked;
import dev.millrace.gateway.rest.memory.MemoryEdits.Place;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
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
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
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

/** What agents remember, for people to read and to set right. */
@Path("/v1/memory")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Memory", description = "What agents remember: documents of markdown, by namespace.")
public class MemoryResource {
    static final String MARKDOWN = "text/markdown";
    private static final String MARKDOWN_UTF_8 = MARKDOWN + ";charset=UTF-8";
    private static final int MAX_DOCUMENTS = 1_000;

    static final String IF_MATCH = "Only if the document is there with this tag; * = with any.";
    static final String IF_NONE_MATCH = "Only if the document is not there with this tag; * = not there at all.";
    static final String IDEMPOTENCY_KEY =
            "Your own id of the edit: one that comes again is answered again, and not done twice.";
    static final String ETAG = "Names the version.";

    private final Memory memory;
    private final MemoryEdits edits;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    MemoryResource(Memory memory, MemoryEdits edits, Access access, GatewayConfig config) {
        this.access = access;
        this.memory = memory;
        this.edits = edits;
        this.config = config;
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.ANYWHERE)
    @Operation(
            summary = "The namespaces that remember something",
            description = "Of those that the caller may read in; a page may be shorter for it.")
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = MemoryPage.Namespaces.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response namespaces(
            @Parameter(description = "1 to 1000", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "1000"))
                    @QueryParam("limit")
                    @DefaultValue("1000")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("cursor") @DefaultValue("")
                    String cursor)
            throws BrokerUnavailableException, InterruptedException {
        int most = Parameters.number("limit", limit, MAX_DOCUMENTS);
        List<MemoryPage.Namespace> found = memory.extents(cursor, most + 1, config.produceTimeout()).entrySet().stream()
                .map(extent -> new MemoryPage.Namespace(
                        extent.getKey(),
                        extent.getValue().documents(),
                        extent.getValue().size()))
                .toList();
        List<MemoryPage.Namespace> page = found.subList(0, Math.min(most, found.size()));
        return Response.ok(Json.writeText(new MemoryPage.Namespaces(
                        page.stream()
                                .filter(one -> access.may(one.namespace(), Permission.READ))
                                .toList(),
                        found.size() > most ? page.getLast().namespace() : null)))
                .build();
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{namespace}")
    @Operation(summary = "The documents of a namespace", description = "By path, each with its summary and version.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = MemoryPage.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response documents(
            @PathParam("namespace") String namespace,
            @Parameter(description = "1 to 1000", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "200"))
                    @QueryParam("limit")
                    @DefaultValue("200")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("cursor") @DefaultValue("")
                    String cursor)
            throws BrokerUnavailableException, InterruptedException {
        Place.requireNamespace(namespace);
        int most = Parameters.number("limit", limit, MAX_DOCUMENTS);
        List<MemoryVersion> found = memory.documents(namespace, cursor, most + 1, config.produceTimeout());
        List<MemoryVersion> page = found.subList(0, Math.min(most, found.size()));
        return Response.ok(Json.writeText(new MemoryPage(
                        namespace,
                        page.stream().map(MemoryEdits::view).toList(),
                        found.size() > most ? page.getLast().path() : null)))
                .build();
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{namespace}/{path: .+}")
    @Produces(MARKDOWN_UTF_8)
    @Operation(summary = "A document", description = "Its header ETag is what If-Match takes when it is written.")
    @Parameter(
            name = "If-None-Match",
            in = ParameterIn.HEADER,
            description = IF_NONE_MATCH,
            schema = @Schema(type = SchemaType.STRING))
    @APIResponse(
            responseCode = "200",
            description = "The document.",
            headers = @Header(name = "ETag", description = ETAG, schema = @Schema(type = SchemaType.STRING)),
            content = @Content(mediaType = MARKDOWN, schema = @Schema(type = SchemaType.STRING)))
    @APIResponse(responseCode = "304", description = "You have it: If-None-Match names its tag.")
    @APIResponse(responseCode = "400", description = "bad_path, bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_document")
    @APIResponse(responseCode = "412", description = "precondition_failed")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response document(
            @PathParam("namespace") String namespace, @PathParam("path") String path, @Context HttpHeaders headers)
            throws BrokerUnavailableException, InterruptedException {
        Place place = Place.of(namespace, path);
        Preconditions preconditions = Preconditions.of(headers);
        Memory.Content found = memory.read(place.namespace(), place.path(), config.produceTimeout())
                .orElseThrow(place::unknown);
        if (!preconditions.match(found.about().tag())) {
            throw MemoryEdits.stale(place, Optional.of(found.about()));
        }
        return preconditions.known(found.about().tag())
                ? tagged(Response.notModified(), found.about()).build()
                : markdown(found);
    }

    @PUT
    @Needs(Permission.MEMORY)
    @Path("/{namespace}/{path: .+}")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Write a document whole",
            description =
                    "The next task sees it. If-Match with the ETag that you have read makes sure that nothing is lost"
                            + " that somebody else has written since; If-None-Match: * that nothing is there yet. The one writer of"
                            + " memory compares, so of two that know the same version exactly one wins. Every write is a"
                            + " version of its own, and older ones are kept. An Idempotency-Key makes it safe to repeat.")
    @Parameter(
            name = "If-Match",
            in = ParameterIn.HEADER,
            description = IF_MATCH,
            schema = @Schema(type = SchemaType.STRING))
    @Parameter(
            name = "If-None-Match",
            in = ParameterIn.HEADER,
            description = IF_NONE_MATCH,
            schema = @Schema(type = SchemaType.STRING))
    @Parameter(
            name = "Idempotency-Key",
            in = ParameterIn.HEADER,
            description = IDEMPOTENCY_KEY,
            schema = @Schema(type = SchemaType.STRING))
    @RequestBody(required = true, content = @Content(mediaType = MARKDOWN, schema = @Schema(type = SchemaType.STRING)))
    @APIResponse(
            responseCode = "200",
            description = "It is written.",
            headers = @Header(name = "ETag", description = ETAG, schema = @Schema(type = SchemaType.STRING)),
            content = @Content(schema = @Schema(implementation = MemoryPage.Version.class)))
    @APIResponse(
            responseCode = "201",
            description = "The same, and there was no such document before.",
            headers = @Header(name = "ETag", description = ETAG, schema = @Schema(type = SchemaType.STRING)),
            content = @Content(schema = @Schema(implementation = MemoryPage.Version.class)))
    @APIResponse(
            responseCode = "202",
            description = "It is stored, and the writer does not answer in time; it will come to it.",
            content = @Content(schema = @Schema(implementation = MemoryPage.EditAccepted.class)))
    @APIResponse(responseCode = "400", description = "bad_path, bad_parameter, bad_text")
    @APIResponse(responseCode = "409", description = "memory_full: take documents away first")
    @APIResponse(responseCode = "412", description = "precondition_failed: it is another one by now")
    @APIResponse(responseCode = "413", description = "document_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response write(
            @PathParam("namespace") String namespace,
            @PathParam("path") String path,
            @Parameter(description = "Who you are, for the history. Believed, not checked.") @QueryParam("by") @Nullable
                    String by,
            @Parameter(description = "How long to wait for the writer, such as 10s (the default); at most 120 s.")
                    @QueryParam("wait")
                    @Nullable
                    String wait,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        Place place = Place.of(namespace, path);
        requireText(headers.getMediaType());
        return edits.edit(place, text(place, body), new Asked(by, wait, headers));
    }

    @DELETE
    @Needs(Permission.MEMORY)
    @Path("/{namespace}/{path: .+}")
    @Operation(
            summary = "Take a document away",
            description = "Its versions are kept, so that it can be restored. If-Match as for writing it.")
    @Parameter(
            name = "If-Match",
            in = ParameterIn.HEADER,
            description = IF_MATCH,
            schema = @Schema(type = SchemaType.STRING))
    @Parameter(
            name = "Idempotency-Key",
            in = ParameterIn.HEADER,
            description = IDEMPOTENCY_KEY,
            schema = @Schema(type = SchemaType.STRING))
    @APIResponse(responseCode = "204", description = "It is gone.")
    @APIResponse(
            responseCode = "202",
            description = "It is stored, and the writer does not answer in time; it will come to it.",
            content = @Content(schema = @Schema(implementation = MemoryPage.EditAccepted.class)))
    @APIResponse(responseCode = "400", description = "bad_path, bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_document")
    @APIResponse(responseCode = "412", description = "precondition_failed: it is another one by now")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response takeAway(
            @PathParam("namespace") String namespace,
            @PathParam("path") String path,
            @Parameter(description = "Who you are, for the history. Believed, not checked.") @QueryParam("by") @Nullable
                    String by,
            @Parameter(description = "How long to wait for the writer, such as 10s (the default); at most 120 s.")
                    @QueryParam("wait")
                    @Nullable
                    String wait,
            @Context HttpHeaders headers)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException {
        return edits.edit(Place.of(namespace, path), null, new Asked(by, wait, headers));
    }

    /** A version as the markdown that it is. */
    static Response markdown(Memory.Content found) {
        return tagged(Response.ok(found.content().getBytes(StandardCharsets.UTF_8), MARKDOWN_UTF_8), found.about())
                .build();
    }

    private static Response.ResponseBuilder tagged(Response.ResponseBuilder response, MemoryVersion about) {
        return response.header(HttpHeaders.ETAG, Preconditions.quoted(about.tag()))
                .header(HttpHeaders.CACHE_CONTROL, "no-cache")
                // what is in it is no page, whatever it looks like
                .header("X-Content-Type-Options", "nosniff");
    }

    private static void requireText(@Nullable MediaType type) {
        boolean text = type == null
                || (type.getType().equals("text")
                        && (type.getSubtype().equals("markdown")
                                || type.getSubtype().equals("plain")));
        String charset = type == null ? null : type.getParameters().get(MediaType.CHARSET_PARAMETER);
        if (!text || (charset != null && !charset.equalsIgnoreCase("utf-8"))) {
            throw new ProblemException(Problem.of(
                    415,
                    "unsupported_media_type",
                    "Not a document of memory",
                    "Content-Type: expected text/markdown or text/plain, in UTF-8, found " + type + "."));
        }
    }

    private static String text(Place place, InputStream body) throws IOException {
        int limit = MemoryDocument.maxBytes(place.path());
        byte[] bytes = body.readNBytes(limit + 1);
        if (bytes.length > limit) {
            throw MemoryEdits.tooLarge(place);
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new ProblemException(Problem.of(
                    400, "bad_text", "The body is not text", "The body: expected text in UTF-8, found other bytes."));
        }
    }
}
