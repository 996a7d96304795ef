package dev.millrace.gateway.rest.memory;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.MemoryPage;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.Memory;
import dev.millrace.gateway.kafka.Memory.Outcome;
import dev.millrace.gateway.kafka.MemoryVersion;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.IdempotencyKey;
import dev.millrace.gateway.rest.requests.WaitParameter;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Hands what people want of documents to the one writer of memory, and tells them what became of it. */
@Singleton
public class MemoryEdits {

    /** How long to wait for the writer if the client does not say. */
    static final String DEFAULT_WAIT = "10s";

    private final Memory memory;
    private final TaskIntake intake;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    MemoryEdits(Memory memory, TaskIntake intake, Access access, GatewayConfig config) {
        this.access = access;
        this.memory = memory;
        this.intake = intake;
        this.config = config;
    }

    /**
     * A place in memory.
     *
     * @param path in its one form
     */
    record Place(String namespace, String path) {

        /**
         * Checks what stands in a URL.
         *
         * @throws ProblemException if memory has no such place
         */
        static Place of(String namespace, String path) {
            requireNamespace(namespace);
            if (!MemoryDocument.isPath(path)) {
                throw new ProblemException(new Problem(
                        400,
                        "bad_path",
                        "Memory has no such place",
                        "path: expected facts/<name>.md (letters, digits, '.', '_', '-' and blanks) or"
                                + " episodes/YYYY-MM.md, found \"" + shown(path) + "\"",
                        Map.of("parameter", "path")));
            }
            return new Place(namespace, path);
        }

        static void requireNamespace(String namespace) {
            if (namespace.isBlank() || namespace.length() > Ids.MAX_LENGTH || namespace.indexOf('/') >= 0) {
                throw ProblemException.badParameter(
                        "namespace", "1 to " + Ids.MAX_LENGTH + " characters without '/'", shown(namespace));
            }
        }

        ProblemException unknown() {
            return new ProblemException(Problem.of(
                    404,
                    "unknown_document",
                    "Unknown document",
                    "There is no document " + path + " in the memory of the namespace " + namespace + "."));
        }

        static String shown(String text) {
            return text.codePoints()
                    .limit(120)
                    .map(character -> Character.isISOControl(character) ? '?' : character)
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                    .toString();
        }
    }

    /**
     * Who asks for an edit, and how patient they are.
     *
     * @param by as they say themselves; {@code null} = not said
     * @param patience {@code ?wait=}; {@code null} = as long as is usual
     */
    record Asked(@Nullable String by, @Nullable String patience, HttpHeaders headers) {}

    /**
     * Has the writer do it and waits for its answer.
     *
     * @param content {@code null} = the document is to be gone
     * @return a 201, 200 or 204; a 202 if the writer does not answer in time
     * @throws ProblemException if the writer refuses
     */
    Response edit(Place place, @Nullable String content, Asked asked)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException {
        Duration patience =
                WaitParameter.parse(asked.patience() == null ? DEFAULT_WAIT : asked.patience(), config.maxWait());
        Event event = event(place, content, asked);
        Optional<Outcome> outcome = memory.edit(event, config.produceTimeout(), patience);
        return switch (outcome.orElse(null)) {
            case null -> accepted(event);
            case Outcome.Written(long version)
            when content == null -> Response.noContent().build();
            case Outcome.Written(long version) -> written(place, version, event);
            case Outcome.Refused(MemoryDocument.Refusal why) -> throw refused(place, why);
        };
    }

    /**
     * Refuses a body that says anything: it would be ignored.
     *
     * @throws ProblemException if it has a field, or is no JSON object
     */
    void requireNoFields(InputStream body, HttpHeaders headers) throws IOException, InterruptedException {
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            if (read.bytes().length == 0) {
                return;
            }
            BodyReader.requireJson(headers);
            ObjectNode fields = BodyReader.object(read.bytes());
            if (!fields.isEmpty()) {
                String name = fields.fieldNames().next();
                throw new ProblemException(new Problem(
                        400,
                        "unknown_field",
                        "A field is unknown",
                        "The body: expected none, or {}, found the field \"" + Place.shown(name)
                                + "\". What is to be restored is in the path, who restores it in ?by=.",
                        Map.of("field", Place.shown(name))));
            }
        }
    }

    private Event event(Place place, @Nullable String content, Asked asked) {
        String by =
                asked.by() == null || asked.by().isBlank() ? null : asked.by().strip();
        // it is shown on terminals
        if (by != null && (by.length() > Ids.MAX_LENGTH || by.chars().anyMatch(Character::isISOControl))) {
            throw ProblemException.badParameter(
                    "by", "at most " + Ids.MAX_LENGTH + " characters and no control characters", Place.shown(by));
        }
        String principal = access.principal();
        if (principal != null) {
            by = principal;
        }
        JsonObject.Builder payload =
                JsonObject.builder().put("path", place.path()).putIfPresent("content", content);
        Preconditions.of(asked.headers()).addTo(payload);
        payload.putIfPresent("editedBy", by);
        String key = IdempotencyKey.or(null, asked.headers().getHeaderString(IdempotencyKey.HEADER));
        try {
            Event event = access.stamped(
                    Event.root(key == null ? Ids.random() : key, KnownEventType.MEMORY_EDIT_REQUESTED, Instant.now())
                            .source("user")
                            .namespace(place.namespace())
                            .traceparent(asked.headers().getHeaderString(EventCodec.TRACEPARENT))
                            .tracestate(asked.headers().getHeaderString(EventCodec.TRACESTATE))
                            .payload(payload.build())
                            .build());
            intake.requireValid(event);
            return event;
        } catch (IllegalArgumentException e) {
            throw new ProblemException(
                    Problem.of(400, "bad_parameter", "A parameter cannot be read", String.valueOf(e.getMessage())));
        }
    }

    private Response written(Place place, long version, Event event) {
        String etag = Preconditions.quoted(MemoryDocument.tag(version, event.id()));
        Response.ResponseBuilder response =
                Response.status(isFirst(place, version) ? 201 : 200).header(HttpHeaders.ETAG, etag);
        // it may have a successor already, and be too old to be kept
        memory.known(place.namespace(), place.path(), version)
                .map(MemoryEdits::view)
                .ifPresent(told -> response.entity(Json.writeText(told)));
        return response.build();
    }

    /** Whether there was no document before this version of it. */
    private boolean isFirst(Place place, long version) {
        return version == 1
                || memory.known(place.namespace(), place.path(), version - 1)
                        .map(MemoryVersion::deleted)
                        .orElse(false);
    }

    private ProblemException refused(Place place, MemoryDocument.Refusal why) {
        return switch (why) {
            case DOCUMENT_NOT_FOUND -> place.unknown();
            case DOCUMENT_TOO_LARGE -> tooLarge(place);
            case MEMORY_FULL -> full(place);
            case PRECONDITION_FAILED -> stale(place, memory.known(place.namespace(), place.path()));
        };
    }

    /** The document is not as the client thinks it is. */
    static ProblemException stale(Place place, Optional<MemoryVersion> now) {
        return new ProblemException(new Problem(
                412,
                "precondition_failed",
                "The document is another one by now",
                now.map(version -> place.path() + " has version " + version.version() + " of " + version.updatedAt()
                                        + ", by " + version.updatedBy())
                                .orElse("There is no document " + place.path())
                        + ". Nothing was changed. Read it again, and then decide.",
                now.isPresent() ? Map.of("etag", Preconditions.quoted(now.get().tag())) : Map.of()));
    }

    static ProblemException tooLarge(Place place) {
        int limit = MemoryDocument.maxBytes(place.path());
        return new ProblemException(new Problem(
                413,
                "document_too_large",
                "The document is too large",
                place.path() + " may have at most " + limit + " bytes of UTF-8. Nothing was changed.",
                Map.of("limitBytes", limit)));
    }

    private static ProblemException full(Place place) {
        return new ProblemException(Problem.of(
                409,
                "memory_full",
                "Memory is full",
                "The memory of the namespace " + place.namespace() + " has as many documents, or as many bytes in them,"
                        + " as it may have (millrace.reflection.max-documents, millrace.reflection.max-bytes). Nothing was"
                        + " changed. Take documents away, or make one smaller."));
    }

    private static Response accepted(Event event) {
        return Response.accepted(Json.writeText(new MemoryPage.EditAccepted(
                        event.id(),
                        "accepted",
                        "The edit is stored; whoever writes memory does not answer now and will come to it. The same"
                                + " request with this id as its Idempotency-Key tells what became of it.")))
                .build();
    }

    /** A version as the client gets it. */
    static MemoryPage.Version view(MemoryVersion version) {
        return new MemoryPage.Version(
                version.path(),
                version.version(),
                Preconditions.quoted(version.tag()),
                version.summary(),
                version.size(),
                version.updatedAt(),
                version.updatedBy(),
                version.deleted());
    }
}
