package org.example.gate;

import dev.millrace.tool.api.EventProcessor;
import dev.millrace.tool.api.IncomingEvent;
import dev.millrace.tool.api.ProducedEvent;
import dev.millrace.tool.api.ToolContext;
import java.util.List;
import java.util.Map;

/** Lets no message through whose sender has said that it needs an approval. */
public class ApprovalGate implements EventProcessor {

    @Override
    public String name() {
        return "approval-gate";
    }

    @Override
    public List<String> eventTypes() {
        return List.of("MESSAGE_RECEIVED");
    }

    @Override
    public boolean required() {
        return true;
    }

    @Override
    public boolean shouldProcess(IncomingEvent event, ToolContext context) {
        return Boolean.TRUE.equals(event.metadata().get("needsApproval"));
    }

    @Override
    public List<ProducedEvent> process(IncomingEvent event, ToolContext context) {
        return List.of(new ProducedEvent(
                "MESSAGE_RECEIVED",
                Map.of(
                        "text", "This message requires approval.",
                        // for people only: no agent is given it
                        "metadata", Map.of("skipRouting", true, "held", event.id()))));
    }
}
