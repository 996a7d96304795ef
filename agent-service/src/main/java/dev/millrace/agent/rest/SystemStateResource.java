package dev.millrace.agent.rest;

import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.io.IOException;

/** The installation as this instance sees it. Internal: the gateway asks. */
@Path("/internal/system")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
public class SystemStateResource {

    private final Instance<SystemReport> report;

    @Inject
    public SystemStateResource(Instance<SystemReport> report) {
        this.report = report;
    }

    /** Lanes, toolsets, and whether tasks are admitted. */
    @GET
    public Response system(UriInfo uri) throws InterruptedException {
        try {
            return Answers.ok(report.get().view());
        } catch (IOException e) {
            return Answers.problem(
                    Problem.of(503, "query_unavailable", "The brokers do not answer", String.valueOf(e.getMessage())),
                    uri);
        }
    }
}
