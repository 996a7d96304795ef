package dev.millrace.gateway.rest.system;

import dev.millrace.api.HealthAnswer;
import dev.millrace.gateway.rest.access.OpenToAll;
import dev.millrace.schemas.Json;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Instant;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** That this process answers, for clients of plain agent servers; {@code /q/health/ready} says whether it can work. */
@Path("/health")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Plain session routes")
public class HealthResource {

    private final String version;

    @Inject
    HealthResource(@ConfigProperty(name = "quarkus.application.version", defaultValue = "unknown") String version) {
        this.version = version;
    }

    @GET
    @OpenToAll("it says that the process answers, and no more")
    @Operation(
            summary = "Whether this process answers",
            description =
                    "Always ok. Whether it has brokers to work with, /q/health/ready of the management port says.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = HealthAnswer.class)))
    public Response health() {
        return Response.ok(Json.writeText(new HealthAnswer("ok", Instant.now().toEpochMilli(), version)))
                .build();
    }
}
