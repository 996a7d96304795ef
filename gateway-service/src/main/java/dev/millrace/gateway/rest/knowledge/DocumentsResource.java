package dev.millrace.gateway.rest.knowledge;

import dev.millrace.api.KnowledgeView;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.query.Knowledge;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.IdempotencyKey;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.http.client.AgentClient;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
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
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Documents as knowledge. */
@Path("/v1/knowledge")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Knowledge", description = "Documents that agents and people look things up in.")
public class DocumentsResource {

    private static final String DOCUMENTS = "documents";
    private static final int MAX_PAGE = 500;
    private static final int MAX_HITS = 50;
    private static final byte[] NO_BODY = {};

    private final Knowledge knowledge;
    private final TaskIntake intake;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    DocumentsResource(Knowledge knowledge, TaskIntake intake, Access access, GatewayConfig config) {
        this.knowledge = knowledge;
        this.intake = intake;
        this.access = access;
        this.config = config;
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/documents")
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Have a document taken in",
            description =
                    "Stores a RAG_INGEST and answers at once; the status of the document tells what comes of it. A"
                            + " document that is known and has not changed is left as it is.")
    @Parameter(
            name = "Idempotency-Key",
            in = ParameterIn.HEADER,
            description = "The same key again asks for nothing new.",
            schema = @Schema(type = SchemaType.STRING))
    @RequestBody(
            required = true,
            content =
                    @Content(
                            mediaType = MediaType.APPLICATION_JSON,
                            schema = @Schema(implementation = KnowledgeView.Ingest.class)))
    @APIResponse(
            responseCode = "202",
            description = "It is stored, and will be taken in.",
            content = @Content(schema = @Schema(implementation = KnowledgeView.Accepted.class)))
    @APIResponse(responseCode = "400", description = "bad_json, bad_field, unknown_field")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "422", description = "invalid_payload")
    @APIResponse(responseCode = "503", description = "broker_unavailable, too_many_bodies")
    public Response ingest(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        BodyReader.requireJson(headers);
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            KnowledgeView.Ingest asked = BodyReader.read(read.bytes(), KnowledgeView.Ingest.class);
            KnowledgeView.Chunking cut = asked.chunking();
            Payload.RagIngest payload = new Payload.RagIngest(
                    Objects.requireNonNullElse(asked.source(), ""),
                    asked.collection(),
                    asked.title(),
                    JsonObject.ofNullable(asked.metadata()),
                    asked.forceReindex(),
                    cut == null ? null : new Payload.RagIngest.Chunking(cut.strategy(), cut.size(), cut.overlap()));
            String id = Objects.requireNonNullElseGet(
                    IdempotencyKey.or(null, headers.getHeaderString(IdempotencyKey.HEADER)), Ids::random);
            Event event = access.stamped(Event.root(id, KnownEventType.RAG_INGEST, Instant.now())
                    .source("/v1/knowledge")
                    .namespace(namespace)
                    .payload(payload)
                    .build());
            intake.requireValid(event);
            intake.accept(List.of(event));
            return Response.accepted(Json.writeText(new KnowledgeView.Accepted(
                            payload.documentId(), event.id(), namespace, payload.collection(), "pending")))
                    .build();
        }
    }

    @PUT
    @Needs(Permission.WRITE)
    @Path("/uploads/{name}")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Send a document",
            description =
                    "The body is the document: HTML, Markdown or text. The answer comes when searches see it; under"
                            + " the same name it takes the place of the one before.")
    @RequestBody(
            required = true,
            content =
                    @Content(
                            mediaType = MediaType.APPLICATION_OCTET_STREAM,
                            schema = @Schema(type = SchemaType.STRING, format = "binary")))
    @APIResponse(
            responseCode = "200",
            description = "Searches see it.",
            content = @Content(schema = @Schema(implementation = KnowledgeView.Document.class)))
    @APIResponse(responseCode = "413", description = "body_too_large")
    @APIResponse(
            responseCode = "422",
            description = "unsupported_format, unreadable, document_too_large, too_many_chunks, embedding_failed")
    @APIResponse(responseCode = "503", description = "knowledge_unavailable, too_many_bodies")
    public Response upload(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "The collection that it goes into; absent = default.")
                    @QueryParam("collection")
                    @Nullable
                    String collection,
            @Parameter(description = "What people call it; absent = its first heading.") @QueryParam("title") @Nullable
                    String title,
            @Parameter(description = "true: take it in again although it has not changed.")
                    @QueryParam("force")
                    @Nullable
                    String force,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, InterruptedException {
        try (Bodies.Body read =
                intake.read(body, config.knowledge().maxUploadSize().asLongValue())) {
            Map<String, @Nullable String> query = query(namespace, collection);
            query.put("title", title);
            query.put("force", Parameters.flag(force) ? "true" : null);
            query.put("type", headers.getHeaderString(HttpHeaders.CONTENT_TYPE));
            return change("PUT", AgentClient.path("knowledge", "uploads", name), query, read.bytes());
        }
    }

    @GET
    @Needs(Permission.READ)
    @Path("/documents")
    @Operation(summary = "The documents of a namespace", description = "By id, in pages.")
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = KnowledgeView.Documents.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "knowledge_unavailable")
    public Response documents(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "Of this collection alone.") @QueryParam("collection") @Nullable String collection,
            @Parameter(description = "1 to 500", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "100"))
                    @QueryParam("limit")
                    @DefaultValue("100")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("after") @Nullable String after)
            throws InterruptedException {
        Map<String, @Nullable String> query = query(namespace, collection);
        query.put("limit", Integer.toString(Parameters.number("limit", limit, MAX_PAGE)));
        query.put("after", after);
        return get(AgentClient.path("knowledge", DOCUMENTS), query);
    }

    @GET
    @Needs(Permission.READ)
    @Path("/documents/{id}")
    @Operation(summary = "One document, and how far it is")
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = KnowledgeView.Document.class)))
    @APIResponse(responseCode = "404", description = "unknown_document: there is none, or nobody has begun with it yet")
    @APIResponse(responseCode = "503", description = "knowledge_unavailable")
    public Response document(
            @PathParam("id") String id,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws InterruptedException {
        return get(AgentClient.path("knowledge", DOCUMENTS, id), query(namespace, null));
    }

    @DELETE
    @Needs(Permission.WRITE)
    @Path("/documents/{id}")
    @Operation(
            summary = "Take a document away",
            description = "With all of its chunks; searches do not see them any more.")
    @APIResponse(
            responseCode = "200",
            description = "The document as it was.",
            content = @Content(schema = @Schema(implementation = KnowledgeView.Document.class)))
    @APIResponse(responseCode = "404", description = "unknown_document")
    @APIResponse(responseCode = "503", description = "knowledge_unavailable")
    public Response remove(
            @PathParam("id") String id,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws InterruptedException {
        return change("DELETE", AgentClient.path("knowledge", DOCUMENTS, id), query(namespace, null), NO_BODY);
    }

    @GET
    @Needs(Permission.READ)
    @Path("/search")
    @Operation(
            summary = "Look something up",
            description =
                    "Passages that answer a question, the best first: by words and by meaning (hybrid), or by one of"
                            + " them. Nothing of another namespace is ever found.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = KnowledgeView.Hits.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "knowledge_unavailable")
    public Response search(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "The question.") @QueryParam("q") @Nullable String question,
            @Parameter(description = "Look in this collection alone.") @QueryParam("collection") @Nullable
                    String collection,
            @Parameter(description = "1 to 50", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "5"))
                    @QueryParam("limit")
                    @DefaultValue("5")
                    String limit,
            @Parameter(description = "hybrid, text or vector.") @QueryParam("mode") @DefaultValue("hybrid") String mode,
            @Parameter(
                            description =
                                    "What is less similar, as a cosine of -1 to 1, is not found by its meaning; absent ="
                                            + " what suits the model.")
                    @QueryParam("threshold")
                    @Nullable
                    String threshold)
            throws InterruptedException {
        if (question == null || question.isBlank()) {
            throw ProblemException.badParameter("q", "a question", question == null ? "" : question);
        }
        Map<String, @Nullable String> query = query(namespace, collection);
        query.put("q", question);
        query.put("limit", Integer.toString(Parameters.number("limit", limit, MAX_HITS)));
        query.put("mode", mode);
        query.put("threshold", cosine(threshold));
        return get(AgentClient.path("knowledge", "search"), query);
    }

    private static @Nullable String cosine(@Nullable String threshold) {
        if (threshold == null || threshold.isBlank()) {
            return null;
        }
        try {
            double number = Double.parseDouble(threshold);
            if (number >= -1 && number <= 1) {
                return threshold;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw ProblemException.badParameter("threshold", "a number from -1 to 1", threshold);
    }

    private static Map<String, @Nullable String> query(String namespace, @Nullable String collection) {
        Map<String, @Nullable String> query = new LinkedHashMap<>();
        query.put("namespace", namespace);
        query.put("collection", collection);
        return query;
    }

    private Response get(String path, Map<String, @Nullable String> query) throws InterruptedException {
        return KnowledgeAnswers.get(knowledge, path, query);
    }

    private Response change(String method, String path, Map<String, @Nullable String> query, byte[] body)
            throws InterruptedException {
        return KnowledgeAnswers.change(knowledge, method, path, query, body);
    }
}
