package dev.millrace.agent.thinker;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentPin;
import dev.millrace.agent.Agents;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ResponseSchema;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.llm.ToolSpec;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Builds requests to the model. The system prompt comes first, then the index of memory as a user message; both are the
 * same from the first call of a task to its last. Tools are in the order of their names, and entries are only ever
 * added at the end, so that a provider's prefix cache holds from one iteration to the next.
 */
final class Prompts {

    /** The tool by which the model asks the person something; the thinker answers to it, no worker sees it. */
    static final String ASK_USER = "ask_user";

    /** The tool that reads what the index of memory names; who does not have it is not shown the index. */
    private static final String MEMORY_READ = "memory_read";

    /** What providers are told that the form of answers is called. */
    private static final String OUTPUT = "answer";

    private static final ToolSpec ASK_USER_SPEC = new ToolSpec(
            ASK_USER,
            "Ask the user a question that only they can answer, and wait for the answer. Use it when a decision or a fact"
                    + " is missing that no tool can give.",
            JsonObject.of(Map.of(
                    "type",
                    "object",
                    "properties",
                    Map.of("question", Map.of("type", "string", "description", "The question, complete in itself.")),
                    "required",
                    List.of("question"))));

    private static final TypeReference<Map<String, @Nullable Object>> OBJECT = new TypeReference<>() {};

    private final Agents agents;
    private final ToolRouting routing;
    private final MemoryIndex memory;
    private final ShownPassages passages;
    private volatile Specs specs = new Specs(List.of(), List.of(ASK_USER_SPEC));

    /** What models are told of the tools that the last call saw; the list of tools is the same while none changes. */
    private record Specs(List<ToolDefinition> visible, List<ToolSpec> tools) {}

    Prompts(Agents agents, ToolRouting routing, MemoryIndex memory, ShownPassages passages) {
        this.passages = passages;
        this.agents = agents;
        this.routing = routing;
        this.memory = memory;
    }

    /** The model that a call asks; {@code null} = the default one. */
    @Nullable
    String model(OutstandingCall call) {
        String asked = call.agent().model();
        return asked == null
                ? choice(call).map(AgentDefinition.ModelChoice::name).orElse(null)
                : asked;
    }

    /**
     * The request for a call.
     *
     * @param shown what {@link OutstandingCall#shown} says of the transcript
     * @throws dev.millrace.agent.UnknownAgentException if the agent is gone
     */
    ModelRequest request(OutstandingCall call, List<TranscriptEntry> shown) throws InterruptedException {
        List<TranscriptEntry> transcript = Repair.closed(shown);
        AgentDefinition agent = agents.of(call.agent().reference());
        List<ChatMessage> messages = new ArrayList<>(transcript.size() + 1);
        messages.add(new ChatMessage.SystemMessage(systemPrompt(agent, call)));
        transcript.forEach(entry -> messages.add(message(entry)));
        passages.addTo(messages, agent, call, transcript);
        List<ToolSpec> tools = tools(routing.visibleTo(call.agent(), call.namespace()));
        if (tools.stream().anyMatch(tool -> tool.name().equals(MEMORY_READ))) {
            memory.text(call.namespace(), call.taskId(), call.iteration() == 1)
                    .ifPresent(index -> messages.add(1, new ChatMessage.UserMessage(index)));
        }
        JsonObject output = agent.model().output();
        return new ModelRequest(
                call.callId(),
                model(call),
                messages,
                tools,
                agent.model().temperature(),
                null,
                output == null ? null : new ResponseSchema(OUTPUT, output),
                fallback(call));
    }

    /** The model that is asked if the one that is called fails for good; {@code null} = the one that is configured. */
    @Nullable
    String fallback(OutstandingCall call) {
        return choice(call).map(AgentDefinition.ModelChoice::fallback).orElse(null);
    }

    /** What checks the answers to a call; empty = they are free text. */
    Optional<OutputCheck> outputCheck(OutstandingCall call) {
        return choice(call).map(AgentDefinition.ModelChoice::output).map(OutputCheck::new);
    }

    /** Empty if the agent is gone, so that no request is made. */
    private Optional<AgentDefinition.ModelChoice> choice(OutstandingCall call) {
        return agents.find(call.agent().reference()).map(AgentDefinition::model);
    }

    private static String systemPrompt(AgentDefinition agent, OutstandingCall call) {
        String prompt = agent.promptWith(call.agent().fields());
        String participants = call.agent().fields().get(AgentPin.PARTICIPANTS);
        if (participants != null) {
            prompt += "\n\nSeveral take part in this conversation: " + participants + ". You are " + agent.name()
                    + "; user are the people. What others say begins with their name in brackets, what you say does not."
                    + " Write @name to give one of them the word with your answer. Mention nobody when you are done.";
        }
        JsonObject output = agent.model().output();
        return output == null ? prompt : prompt + OutputCheck.instructions(Json.writeText(output));
    }

    private List<ToolSpec> tools(List<ToolDefinition> visible) {
        Specs known = specs;
        if (!known.visible().equals(visible)) {
            known = new Specs(
                    visible,
                    Stream.concat(
                                    visible.stream()
                                            .map(tool ->
                                                    new ToolSpec(tool.name(), tool.description(), tool.parameters())),
                                    Stream.of(ASK_USER_SPEC))
                            .toList());
            specs = known;
        }
        return known.tools();
    }

    private static ChatMessage message(TranscriptEntry entry) {
        return switch (entry) {
            case TranscriptEntry.UserText(String text, List<TranscriptEntry.Image> images) ->
                new ChatMessage.UserMessage(
                        text,
                        images.stream()
                                .map(image -> new ChatMessage.Image(image.mediaType(), image.data()))
                                .toList());
            case TranscriptEntry.Summary summary -> new ChatMessage.UserMessage(Summaries.shown(summary));
            case TranscriptEntry.AssistantTurn turn ->
                new ChatMessage.AssistantMessage(
                        turn.text(),
                        turn.toolCalls().stream()
                                .map(call -> new ToolCallRequest(
                                        call.toolCallId(), call.toolName(), arguments(call.arguments())))
                                .toList(),
                        turn.continuation());
            case TranscriptEntry.ToolResult result ->
                new ChatMessage.ToolMessage(result.toolCallId(), result.toolName(), result.content(), result.isError());
        };
    }

    private static Map<String, @Nullable Object> arguments(String json) {
        try {
            return Json.MAPPER.readValue(json, OBJECT);
        } catch (IOException e) {
            throw new UncheckedIOException("arguments in a transcript are no JSON object", e);
        }
    }
}
