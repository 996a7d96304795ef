package dev.millrace.gateway.rest.system;

import dev.millrace.api.DeadLetterView;
import dev.millrace.api.QueueItem;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.DeadLetter;
import dev.millrace.gateway.kafka.DeadLetterReader;
import dev.millrace.gateway.kafka.EventSender;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.ForgottenTopic;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.kafka.WholeDeadLetter;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.tasks.Controls;
import dev.millrace.gateway.rest.tasks.OutsideEvents;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DefaultValue;
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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What could not be read or was not taken, and why. */
@Path("/v1/dead-letters")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "System", description = "The installation as a whole.")
public class DeadLettersResource {
    private static final int MAX_LETTERS = 200;
    private static final String WHOSE = "Only of this namespace. Absent = of all, for those who may see all, also what"
            + " is of no namespace or for all; else of the caller's own.";
    private static final int MAX_VALUE = 2_000;

    private final DeadLetterReader reader;
    private final ForgottenTopic forgotten;
    private final EventSender sender;
    private final GatewayConfig config;
    private final Controls bodies;

    @Inject
    DeadLettersResource(
            DeadLetterReader reader,
            ForgottenTopic forgotten,
            EventSender sender,
            GatewayConfig config,
            Controls bodies) {
        this.bodies = bodies;
        this.reader = reader;
        this.forgotten = forgotten;
        this.sender = sender;
        this.config = config;
    }

    @GET
    @Needs(Permission.ADMIN)
    @Operation(
            summary = "What could not be read or was not taken",
            description =
                    "The newest first, each with the reason and where it came from. docs/events.md says how to try"
                            + " one again.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = DeadLetterView.Page.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response list(
            @Parameter(description = WHOSE) @QueryParam("namespace") @Nullable String namespace,
            @Parameter(description = "Only with this code, such as unknown_task.") @QueryParam("reason") @Nullable
                    String reason,
            @Parameter(description = "Only of this task.") @QueryParam("taskId") @Nullable String taskId,
            @Parameter(description = "1 to 200", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "50"))
                    @QueryParam("limit")
                    @DefaultValue("50")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("cursor") @Nullable
                    String cursor)
            throws BrokerUnavailableException, InterruptedException {
        Map<Integer, Long> before = before(cursor);
        Predicate<DeadLetter> wanted = letter -> isOf(namespace, letter)
                && isAny(reason, letter.header(DeadLetters.REASON))
                && isAny(taskId, letter.header("ce_subject"))
                && !forgotten.hides(letter);
        forgotten.readUpToNow();
        DeadLetterReader.Page page =
                reader.page(before, wanted, Parameters.number("limit", limit, MAX_LETTERS), config.produceTimeout());
        return Response.ok(Json.writeText(new DeadLetterView.Page(
                        page.letters().stream().map(DeadLettersResource::view).toList(),
                        page.next().isEmpty()
                                ? null
                                : Places.ofFacts(page.next()).toString())))
                .build();
    }

    @GET
    @Needs(Permission.ADMIN)
    @Path("/{cursor}")
    @Operation(summary = "One of them, with its whole value")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = DeadLetterView.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_dead_letter: there is none at this place, or no more")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response letter(
            @PathParam("cursor") String cursor,
            @Parameter(description = WHOSE) @QueryParam("namespace") @Nullable String namespace)
            throws BrokerUnavailableException, InterruptedException {
        WholeDeadLetter whole = find(cursor, namespace);
        return Response.ok(Json.writeText(view(whole.letter(), whole.letter().value() == null ? null : whole.text())))
                .build();
    }

    @POST
    @Needs(Permission.ADMIN)
    @Path("/{cursor}/redrive")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Send one of them again",
            description = "Puts the record back on the lane that it was read from: byte for byte, or with the payload"
                    + " of the body in place of its own, which needs admin in all namespaces. It is judged anew: if it is refused again there is another"
                    + " dead letter, and this one stays as it is.")
    @RequestBody(content = @Content(schema = @Schema(implementation = QueueItem.Retry.class)))
    @APIResponse(
            responseCode = "202",
            description = "The record is on its lane again.",
            content = @Content(schema = @Schema(implementation = DeadLetterView.Redriven.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_dead_letter")
    @APIResponse(responseCode = "409", description = "not_redrivable: it was on no lane, or its record was not kept")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response redrive(
            @PathParam("cursor") String cursor,
            @Parameter(description = WHOSE) @QueryParam("namespace") @Nullable String namespace,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        Map<String, @Nullable Object> payload =
                bodies.body(body, headers, QueueItem.Retry.class).payload();
        if (payload != null) {
            // what was on a lane may be of a type, or have fields, that no client writes
            bodies.requireEverywhere(Permission.ADMIN);
        }
        WholeDeadLetter whole = find(cursor, namespace);
        String lane = sendAgain(whole, payload)
                .orElseThrow(() -> new ProblemException(Problem.of(
                        409,
                        "not_redrivable",
                        "This cannot be sent again",
                        "Expected a record that was read from a lane of events and was kept whole, found one from "
                                + whole.letter().header(DeadLetters.ORIGIN_TOPIC)
                                + ".")));
        return Response.accepted(Json.writeText(
                        new DeadLetterView.Redriven(cursor, whole.letter().header("ce_id"), lane, "accepted")))
                .build();
    }

    @POST
    @Needs(Permission.ADMIN)
    @Path("/redrive")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Send all of a kind again",
            description = "Of the newest dead letters those with this reason, of this task, of this type: each back on"
                    + " the lane that it was read from, byte for byte. What was taken meanwhile is a double and changes"
                    + " nothing. A filter is needed; with next the call goes on where it ended.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = DeadLetterView.Filter.class)))
    @APIResponse(
            responseCode = "202",
            content = @Content(schema = @Schema(implementation = DeadLetterView.AllRedriven.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field, bad_parameter")
    @APIResponse(responseCode = "503", description = "broker_unavailable: those before are on their lanes")
    public Response redriveAll(
            @Parameter(description = WHOSE) @QueryParam("namespace") @Nullable String namespace,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        DeadLetterReader.Page page = page(bodies.body(body, headers, DeadLetterView.Filter.class), namespace);
        List<DeadLetterView.Redriven> redriven = new ArrayList<>();
        List<String> kept = new ArrayList<>();
        // the oldest first, as they came
        for (DeadLetter letter : page.letters().reversed()) {
            String place = letter.place();
            // one that somebody has discarded since the page was read, or whose time is up, holds up no other
            WholeDeadLetter whole = lookFor(place, namespace).orElse(null);
            String lane = whole == null ? null : sendAgain(whole, null).orElse(null);
            if (lane == null) {
                kept.add(place);
            } else {
                redriven.add(new DeadLetterView.Redriven(place, letter.header("ce_id"), lane, "accepted"));
            }
        }
        return Response.accepted(Json.writeText(new DeadLetterView.AllRedriven(
                        redriven,
                        kept,
                        page.next().isEmpty()
                                ? null
                                : Places.ofFacts(page.next()).toString())))
                .build();
    }

    @POST
    @Needs(Permission.ADMIN)
    @Path("/{cursor}/discard")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Show one of them no more",
            description = "Nothing is to become of it. No gateway tells of it any more, and it can no longer be sent"
                    + " again; the topic holds it as long as it holds dead letters.")
    @RequestBody(description = "None, or an empty object.")
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = DeadLetterView.Discarded.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter, bad_json, unknown_field")
    @APIResponse(responseCode = "404", description = "unknown_dead_letter")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response discard(
            @PathParam("cursor") String cursor,
            @Parameter(description = WHOSE) @QueryParam("namespace") @Nullable String namespace,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        bodies.body(body, headers, Nothing.class);
        DeadLetter letter = find(cursor, namespace).letter();
        sender.discard(List.of(letter));
        return Response.ok(Json.writeText(discarded(letter))).build();
    }

    @POST
    @Needs(Permission.ADMIN)
    @Path("/discard")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Show all of a kind no more",
            description = "Of the newest dead letters those with this reason, of this task, of this type. A filter is"
                    + " needed; with next the call goes on where it ended.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = DeadLetterView.Filter.class)))
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = DeadLetterView.AllDiscarded.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field, bad_parameter")
    @APIResponse(responseCode = "503", description = "broker_unavailable: some of them may be shown no more")
    public Response discardAll(
            @Parameter(description = WHOSE) @QueryParam("namespace") @Nullable String namespace,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        DeadLetterReader.Page page = page(bodies.body(body, headers, DeadLetterView.Filter.class), namespace);
        sender.discard(page.letters());
        return Response.ok(Json.writeText(new DeadLetterView.AllDiscarded(
                        page.letters().stream()
                                .map(DeadLettersResource::discarded)
                                .toList(),
                        page.next().isEmpty()
                                ? null
                                : Places.ofFacts(page.next()).toString())))
                .build();
    }

    /** An object without fields. */
    private record Nothing() {}

    private static DeadLetterView.Discarded discarded(DeadLetter letter) {
        return new DeadLetterView.Discarded(letter.place(), letter.header("ce_id"), "discarded");
    }

    /** Some of those that are meant, the newest first. */
    private DeadLetterReader.Page page(DeadLetterView.Filter wanted, @Nullable String namespace)
            throws BrokerUnavailableException, InterruptedException {
        if (isAbsent(wanted.reason()) && isAbsent(wanted.taskId()) && isAbsent(wanted.type())) {
            throw ProblemException.badField("reason", "a reason, a taskId or a type", "none");
        }
        int limit = wanted.limit() == null ? MAX_LETTERS : wanted.limit();
        if (limit < 1 || limit > MAX_LETTERS) {
            throw ProblemException.badField("limit", "1 to " + MAX_LETTERS, limit);
        }
        forgotten.readUpToNow();
        return reader.page(
                before(wanted.cursor()),
                letter -> isOf(namespace, letter)
                        && isAny(wanted.reason(), letter.header(DeadLetters.REASON))
                        && isAny(wanted.taskId(), letter.header("ce_subject"))
                        && isAny(wanted.type(), letter.header(EventCodec.CE_TYPE))
                        && !forgotten.hides(letter),
                limit,
                config.produceTimeout());
    }

    private Optional<String> sendAgain(WholeDeadLetter whole, @Nullable Map<String, @Nullable Object> payload)
            throws BrokerUnavailableException, EventTooLargeException {
        try {
            return sender.sendAgain(whole, payload);
        } catch (MalformedEventException e) {
            throw ProblemException.badField(
                    "payload", "a dead letter whose value is an event", String.valueOf(e.getMessage()));
        }
    }

    private static Map<Integer, Long> before(@Nullable String cursor) {
        return cursor == null || cursor.isBlank()
                ? Map.of()
                : Places.parse(cursor)
                        .map(Places::facts)
                        .orElseThrow(() -> ProblemException.badParameter("cursor", "what next said", cursor));
    }

    private static boolean isAbsent(@Nullable String text) {
        return text == null || text.isBlank();
    }

    private WholeDeadLetter find(String cursor, @Nullable String namespace)
            throws BrokerUnavailableException, InterruptedException {
        return lookFor(cursor, namespace)
                .orElseThrow(() -> new ProblemException(Problem.of(
                        404,
                        "unknown_dead_letter",
                        "Unknown dead letter",
                        "There is no dead letter at " + cursor + ", or no more.")));
    }

    private Optional<WholeDeadLetter> lookFor(String cursor, @Nullable String namespace)
            throws BrokerUnavailableException, InterruptedException {
        JournalCursor place = JournalCursor.parse(cursor)
                .orElseThrow(() -> ProblemException.badParameter("cursor", "<partition>:<offset>", cursor));
        forgotten.readUpToNow();
        return reader.letter(place.partition(), place.offset(), config.produceTimeout())
                .filter(whole -> isOf(namespace, whole.letter()) && !forgotten.hides(whole.letter()));
    }

    /** Whether a letter is of this namespace, or any is wanted. */
    private static boolean isOf(@Nullable String namespace, DeadLetter letter) {
        return namespace == null || namespace.isBlank() || OutsideEvents.isOf(namespace, letter);
    }

    private static boolean isAny(@Nullable String wanted, @Nullable String found) {
        return wanted == null || wanted.isBlank() || wanted.equals(found);
    }

    private static DeadLetterView view(DeadLetter letter) {
        return view(letter, cut(letter.value()));
    }

    private static DeadLetterView view(DeadLetter letter, @Nullable String value) {
        String namespace = letter.header("ce_" + EventCodec.NAMESPACE);
        return new DeadLetterView(
                letter.place(),
                letter.header(DeadLetters.REASON),
                letter.header(DeadLetters.DETAIL),
                letter.timestampMs(),
                letter.header(DeadLetters.ORIGIN_TOPIC),
                letter.header(DeadLetters.ORIGIN_PARTITION),
                letter.header(DeadLetters.ORIGIN_OFFSET),
                letter.header("ce_id"),
                letter.header("ce_type"),
                letter.header("ce_subject"),
                letter.header("ce_" + EventCodec.SESSION_ID),
                namespace == null ? Event.DEFAULT_NAMESPACE : namespace,
                cut(letter.key()),
                value,
                letter.valueBytes());
    }

    /** Bytes of anybody: as text as far as they are, and not all of it. */
    private static @Nullable String cut(byte @Nullable [] bytes) {
        if (bytes == null) {
            return null;
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        return text.codePoints().limit(MAX_VALUE).mapToObj(Character::toString).collect(Collectors.joining());
    }
}
