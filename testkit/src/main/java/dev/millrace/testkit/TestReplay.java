package dev.millrace.testkit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Agents;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.topology.TaskReplay;
import dev.millrace.api.Replay;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * A task that was played again from its journal, see {@link TestMillrace#replay}. {@code docs/replay.md} says what is
 * compared.
 */
public final class TestReplay implements AssertProvider<ReplayAssert> {

    private final String taskId;
    private final List<Replay.Step> steps;

    private TestReplay(String taskId, List<Replay.Step> steps) {
        this.taskId = taskId;
        this.steps = steps;
    }

    /** The task. */
    public String taskId() {
        return taskId;
    }

    /** What happened to it, and what is decided on it today, each with whether that is what the journal says. */
    public List<Replay.Step> steps() {
        return steps;
    }

    /** Where today's decisions are not those of the journal, each with what was expected and found; empty = nowhere. */
    public List<String> partings() {
        List<String> partings = new ArrayList<>();
        for (Replay.Step step : steps) {
            for (Replay.Decision decision : step.decided()) {
                parting(decision).ifPresent(text -> partings.add("step " + step.number() + ": " + text));
            }
        }
        return partings;
    }

    private static Optional<String> parting(Replay.Decision decision) {
        String type = decision.eventType();
        return switch (decision.outcome()) {
            case "same" -> Optional.empty();
            case "not_recorded" -> Optional.of("expected no " + type + ", found one");
            case "not_decided" -> Optional.of("expected " + type + ", found none");
            default -> {
                List<String> fields = new ArrayList<>();
                Objects.requireNonNullElse(decision.differences(), Map.<String, Replay.Difference>of())
                        .forEach((field, difference) -> fields.add("expected " + field + " "
                                + Json.writeText(difference.recorded()) + ", found "
                                + Json.writeText(difference.decided())));
                yield Optional.of(type + ": " + String.join("; ", fields));
            }
        };
    }

    @Override
    public ReplayAssert assertThat() {
        return new ReplayAssert(this);
    }

    static TestReplay of(Path file, Agents agents, ToolRouting routing) {
        List<JournalEntry> log = read(file);
        String taskId = log.stream()
                .map(entry -> entry.event().taskId())
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        file + ": expected events of a task, found none in " + log.size() + " events"));
        @Nullable String old = addAsThen(log, agents);
        try {
            return new TaskReplay(MachineLimits.DEFAULT, routing, agents)
                    .play(taskId, log)
                    .map(played -> new TestReplay(taskId, played.steps()))
                    .orElseThrow(() -> new IllegalArgumentException(
                            file + ": expected the event that started the task " + taskId + ", found none"));
        } finally {
            if (old != null) {
                agents.forget(old);
            }
        }
    }

    /**
     * Has the agent of today stand where the journal names the version of then.
     *
     * @return the reference that is to be forgotten again; {@code null} = that version is the one of today
     */
    private static @Nullable String addAsThen(List<JournalEntry> log, Agents agents) {
        for (JournalEntry entry : log) {
            if (entry.event().payload() instanceof Payload.TaskCreated created) {
                AgentDefinition today = agents.find(created.taskType())
                        .orElseThrow(() -> new IllegalArgumentException("expected the agent " + created.taskType()
                                + ", to which the task was given, found none" + " of that name: add it first"));
                String version = created.agentVersion();
                if (version == null || version.equals(today.version())) {
                    return null;
                }
                agents.add(new AgentDefinition(
                        today.name(),
                        version,
                        today.description(),
                        today.prompt(),
                        today.tools(),
                        today.model(),
                        today.limits(),
                        today.approval(),
                        today.steps(),
                        today.knowledge(),
                        today.expose()));
                return AgentDefinition.referenceOf(today.name(), version);
            }
        }
        return null;
    }

    /** Lines or an array of events, as the command prints them, or a page of the API that has them all. */
    private static List<JournalEntry> read(Path file) {
        List<JournalEntry> log = new ArrayList<>();
        try (MappingIterator<JsonNode> values =
                Json.MAPPER.readerFor(JsonNode.class).readValues(Files.readAllBytes(file))) {
            while (values.hasNext()) {
                JsonNode value = values.next();
                if (value.hasNonNull("next")) {
                    throw new IllegalArgumentException(
                            file + ": expected all events, found a page with more behind it");
                }
                for (JsonNode one : value.path("events").isArray() ? value.path("events") : List.of(value)) {
                    Event event = EventJson.fromJson(Json.readObject(Json.write(one)));
                    JournalCursor cursor =
                            JournalCursor.parse(one.path("cursor").asText()).orElse(new JournalCursor(0, log.size()));
                    log.add(new JournalEntry(cursor, event));
                }
            }
            return log;
        } catch (JsonProcessingException | MalformedEventException e) {
            throw new IllegalArgumentException(file + ": expected events as JSON, found: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
