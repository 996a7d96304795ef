package dev.millrace.client;

import dev.millrace.api.Approval;
import dev.millrace.api.Task;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Tool calls that wait for a person. Who decides ({@code by}) is kept for the record; {@code null} = not said. */
public final class ApprovalClient {

    private final Millrace millrace;
    private final String namespace;

    ApprovalClient(Millrace millrace, String namespace) {
        this.millrace = millrace;
        this.namespace = namespace;
    }

    /** Those that are open, the one that has waited longest first. */
    public Stream<Approval> open() {
        return millrace.http().items(with(new Route("/v1/approvals")), "cursor", "approvals", Approval.class);
    }

    /** Those of one task. */
    public Stream<Approval> open(TaskHandle task) {
        return millrace.http()
                .items(
                        with(new Route("/v1/approvals")).with("taskId", task.id()),
                        "cursor",
                        "approvals",
                        Approval.class);
    }

    /** One that waits, or has waited. */
    public Approval get(String callId) {
        return millrace.http().get(with(new Route("/v1/approvals").at(callId)), Approval.class);
    }

    /** Lets a call run as it was asked for. */
    public Task.ControlAccepted approve(String callId, @Nullable String by) {
        return decide(callId, new Approval.Decision("approve", null, null, by));
    }

    /** Lets it run with these arguments, which are all that it gets. */
    public Task.ControlAccepted approve(
            String callId, @Nullable String by, Map<String, ? extends @Nullable Object> params) {
        return decide(
                callId,
                new Approval.Decision("approve", Collections.unmodifiableMap(new LinkedHashMap<>(params)), null, by));
    }

    /** Does not let it run; the model is told why. */
    public Task.ControlAccepted reject(String callId, @Nullable String by, @Nullable String reason) {
        return decide(callId, new Approval.Decision("reject", null, reason, by));
    }

    private Task.ControlAccepted decide(String callId, Approval.Decision decision) {
        return millrace.http().post(with(new Route("/v1/approvals").at(callId)), decision, Task.ControlAccepted.class);
    }

    private Route with(Route route) {
        return route.with("namespace", namespace);
    }
}
