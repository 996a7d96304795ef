package dev.millrace.gateway.rest.outside;

import dev.millrace.api.WebhookAnswer;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.OpenToAll;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.gateway.webhook.WebhookRequest;
import dev.millrace.gateway.webhook.WebhookSource;
import dev.millrace.gateway.webhook.WebhookSources;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.Problem;
import io.micrometer.core.instrument.MeterRegistry;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** What other systems report by themselves. */
@Path("/v1/webhooks")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Webhooks", description = "What other systems report by themselves; docs/webhooks-in.md.")
public class WebhooksResource {

    private static final int SHOWN = 100;

    private final WebhookSources sources;
    private final TaskIntake intake;
    private final GatewayConfig config;
    private final Access access;
    private final MeterRegistry metrics;

    @Inject
    WebhooksResource(
            WebhookSources sources, TaskIntake intake, GatewayConfig config, Access access, MeterRegistry metrics) {
        this.access = access;
        this.sources = sources;
        this.intake = intake;
        this.config = config;
        this.metrics = metrics;
    }

    @POST
    @OpenToAll("each delivery is signed by its sender, or the operator has decided otherwise")
    @Path("/{source}")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Report something, as another system",
            description =
                    "The signature is checked over the bytes of the body, before anything of it is read. What is believed"
                            + " becomes an event, once for each delivery. Sources are configured by the operator.")
    @RequestBody(
            required = true,
            content = @Content(mediaType = MediaType.APPLICATION_JSON, schema = @Schema(description = "Anything.")))
    @APIResponse(
            responseCode = "202",
            description = "The event is stored.",
            content = @Content(schema = @Schema(implementation = WebhookAnswer.class)))
    @APIResponse(
            responseCode = "200",
            description =
                    "The event is one that the source is set to leave out; to Slack's url_verification its challenge.",
            content = @Content(schema = @Schema(implementation = WebhookAnswer.class)))
    @APIResponse(responseCode = "400", description = "bad_json")
    @APIResponse(responseCode = "401", description = "bad_signature: wrong, missing or too old; nothing was stored")
    @APIResponse(responseCode = "404", description = "unknown_source")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "422", description = "bad_session, bad_field, invalid_payload, unknown_agent")
    @APIResponse(
            responseCode = "503",
            description = "broker_unavailable: send the same delivery again; too_many_bodies: try again")
    public Response take(
            @Parameter(description = "Its name in the configuration.") @PathParam("source") String source,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        WebhookSource known = sources.find(source)
                .orElseThrow(() -> new ProblemException(Problem.of(
                        404,
                        "unknown_source",
                        "Unknown source",
                        "There is no source of webhooks " + JsonText.cut(source, SHOWN)
                                + "; the operator adds one with millrace.gateway.webhooks.<name>.scheme.")));
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            WebhookSource.Outcome outcome =
                    known.take(new WebhookRequest(headers::getHeaderString, read.bytes()), Instant.now());
            metrics.counter("millrace.gateway.webhooks", "source", source, "outcome", word(outcome))
                    .increment();
            return switch (outcome) {
                case WebhookSource.Accepted(Event event) -> store(access.stamped(event));
                case WebhookSource.LeftOut ignored ->
                    Response.ok(Json.writeText(new WebhookAnswer(null, false))).build();
                case WebhookSource.Challenge(String answer) ->
                    Response.ok(answer, MediaType.TEXT_PLAIN_TYPE).build();
                case WebhookSource.NotBelieved(String reason) ->
                    throw new ProblemException(Problem.of(
                            401,
                            "bad_signature",
                            "The signature is not right",
                            "source " + source + ": " + reason + ". Nothing was stored."));
                case WebhookSource.Unusable(String code, String reason) ->
                    throw new ProblemException(Problem.of(
                            code.equals("bad_json") ? 400 : 422,
                            code,
                            "No event can be made of it",
                            "source " + source + ": " + reason + ". Nothing was stored."));
            };
        }
    }

    private Response store(Event event)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException {
        intake.requireValid(event);
        intake.requireAgent(event);
        intake.accept(List.of(event));
        return Response.accepted(Json.writeText(new WebhookAnswer(event.id(), true)))
                .build();
    }

    private static String word(WebhookSource.Outcome outcome) {
        return switch (outcome) {
            case WebhookSource.Accepted ignored -> "accepted";
            case WebhookSource.LeftOut ignored -> "left_out";
            case WebhookSource.Challenge ignored -> "challenge";
            case WebhookSource.NotBelieved ignored -> "not_believed";
            case WebhookSource.Unusable ignored -> "unusable";
        };
    }
}
