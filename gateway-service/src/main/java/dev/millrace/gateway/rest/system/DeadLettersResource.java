package dev.millrace.gateway.rest.system;

import dev.millrace.api.DeadLetterView;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.DeadLetter;
import dev.millrace.gateway.kafka.DeadLetterReader;
import dev.millrace.gateway.kafka.ForgottenTopic;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
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
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
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
    private static final int MAX_VALUE = 2_000;

    private final DeadLetterReader reader;
    private final ForgottenTopic forgotten;
    private final GatewayConfig config;

    @Inject
    DeadLettersResource(DeadLetterReader reader, ForgottenTopic forgotten, GatewayConfig config) {
        this.reader = reader;
        this.forgotten = forgotten;
        this.config = config;
    }

    @GET
    @Operation(
            summary = "What could not be read or was not taken",
            description =
                    "The newest first, each with the reason and where it came from. docs/events.md says how to try"
                            + " one again.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = DeadLetterView.Page.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response list(
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
        Map<Integer, Long> before = cursor == null || cursor.isBlank()
                ? Map.of()
                : Places.parse(cursor)
                        .map(Places::facts)
                        .orElseThrow(() -> ProblemException.badParameter("cursor", "what next said", cursor));
        Predicate<DeadLetter> wanted = letter -> isAny(reason, letter.header(DeadLetters.REASON))
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

    private static boolean isAny(@Nullable String wanted, @Nullable String found) {
        return wanted == null || wanted.isBlank() || wanted.equals(found);
    }

    private static DeadLetterView view(DeadLetter letter) {
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
                cut(letter.value()),
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
