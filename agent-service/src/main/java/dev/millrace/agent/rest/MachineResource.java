package dev.millrace.agent.rest;

import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The state machine as JSON: a file that a test writes from the machine's own answers. Internal. */
@Path("/internal/machine")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
public class MachineResource {

    private static final String FILE = "/task-machine.json";

    /** All states and moves. */
    @GET
    public Response machine() {
        try (InputStream in = MachineResource.class.getResourceAsStream(FILE)) {
            if (in == null) {
                throw new IllegalStateException("the jar of agent-service has no " + FILE);
            }
            return Response.ok(in.readAllBytes(), MediaType.APPLICATION_JSON_TYPE)
                    .build();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
