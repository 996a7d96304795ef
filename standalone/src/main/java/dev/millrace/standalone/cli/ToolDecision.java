package dev.millrace.standalone.cli;

import dev.millrace.api.Approval;
import dev.millrace.api.Task;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the person at the terminal decides on a tool call. */
final class ToolDecision {

    private ToolDecision() {}

    static Approval.Decision approve(@Nullable String reason) {
        return new Approval.Decision("approve", null, reason, decidedBy());
    }

    static Approval.Decision reject(@Nullable String reason) {
        return new Approval.Decision("reject", null, reason, decidedBy());
    }

    /** The same with these arguments; empty if they are no JSON object. */
    static Optional<Approval.Decision> with(Approval.Decision decision, String params) {
        try {
            return Optional.of(new Approval.Decision(
                    decision.decision(),
                    Json.readObject(params.getBytes(StandardCharsets.UTF_8)),
                    decision.reason(),
                    decision.decidedBy()));
        } catch (MalformedEventException e) {
            return Optional.empty();
        }
    }

    static Task.ControlAccepted send(GatewayClient client, String callId, Approval.Decision decision) {
        return client.post("/v1/approvals/" + Route.encoded(callId), decision, Task.ControlAccepted.class);
    }

    private static String decidedBy() {
        return System.getProperty("user.name", "cli");
    }
}
