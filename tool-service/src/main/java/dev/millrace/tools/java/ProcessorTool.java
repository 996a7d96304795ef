package dev.millrace.tools.java;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.Processes;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import dev.millrace.schemas.Topics;
import dev.millrace.tool.api.EventProcessor;
import dev.millrace.tool.api.IncomingEvent;
import dev.millrace.tool.api.ProducedEvent;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A processor of events as what it is on the wire: a tool whose one argument is an event. */
public final class ProcessorTool implements CallableTool {

    private static final JsonObject PARAMETERS = JsonObject.of(Map.of(
            "type", "object", "properties", Map.of("event", Map.of("type", "object")), "required", List.of("event")));

    private final EventProcessor processor;
    private final ToolDefinition definition;

    /**
     * Of this processor.
     *
     * @throws IllegalArgumentException if it says of itself what cannot be, naming it
     */
    public ProcessorTool(EventProcessor processor) {
        this.processor = processor;
        try {
            this.definition = new ToolDefinition(
                            processor.name(),
                            "Processes events: " + String.join(", ", processor.eventTypes()),
                            PARAMETERS,
                            Topics.BUILT_IN_TOOLSET,
                            processor.timeoutMs(),
                            SideEffects.DESTRUCTIVE)
                    .withProcesses(new Processes(processor.eventTypes(), processor.order(), processor.required()));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(processor.getClass().getName() + ": " + e.getMessage(), e);
        }
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    /** Each event may be another one: what fails for one says nothing about the next. */
    @Override
    public @Nullable String circuit() {
        return null;
    }

    @Override
    public String origin() {
        return processor.getClass().getName();
    }

    @Override
    public Object call(JsonObject params, ToolContext context) throws ToolException, InterruptedException {
        IncomingEvent event =
                new IncomingEvent(params.get("event") instanceof JsonObject fields ? fields : JsonObject.empty());
        try {
            List<ProducedEvent> produced =
                    processor.shouldProcess(event, context) ? processor.process(event, context) : List.of();
            return Map.of(
                    "producedEvents",
                    produced.stream()
                            .map(one -> Map.of(
                                    "type", one.type(),
                                    "payload", JavaTools.MAPPER.convertValue(one.payload(), Object.class)))
                            .toList());
        } catch (RuntimeException e) {
            ToolException failure = new ToolException("execution_error", "EXECUTION ERROR: " + e);
            failure.initCause(e);
            throw failure;
        }
    }
}
