package dev.millrace.testkit;

import dev.millrace.agent.Agents;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.files.AgentFile;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.files.InvalidAgentException;
import dev.millrace.agent.thinker.ModelTurn;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.ToolDefinition;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The task machine of production without a broker: the topology, the rules of approvals, budgets and deadlines, the
 * prompts and the reading of replies are the real ones. Played by the test are the model, the tools and the clock, so
 * nothing waits: what follows from a start, a decision or a jump in time has happened when the method returns. It has
 * one partition, no memory of earlier tasks, and none of the built-in tools. For one thread.
 */
public final class TestMillrace implements AutoCloseable {

    /** When it begins. */
    public static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private static final Duration APPROVAL_EXPIRY = Duration.ofHours(24);
    private static final String AGENT_FILE = "AGENT.md";

    private final Agents agents = BuiltInAgents.agents();
    private final Map<String, TestTool> tools = new TreeMap<>();
    private final TestModel model = new TestModel();
    private final DrivenMachine machine;
    private int sent;

    /** One with the built-in agents and no tools. */
    public TestMillrace() {
        ToolRouting routing = new ToolRouting(agents, new Catalogue(tools), new Approvals(APPROVAL_EXPIRY));
        this.machine = new DrivenMachine(
                new TaskFsm(MachineLimits.DEFAULT),
                routing,
                new ModelTurn(agents, routing, new MemoryIndex(1)),
                model,
                tools);
    }

    /** Tools as they are now, since tests add some between tasks. */
    private record Catalogue(Map<String, TestTool> tools) implements ToolCatalogue {
        @Override
        public @Nullable ToolDefinition find(String toolName) {
            TestTool tool = tools.get(toolName);
            return tool == null ? null : tool.definition();
        }

        @Override
        public List<ToolDefinition> all() {
            return tools.values().stream().map(TestTool::definition).toList();
        }
    }

    /**
     * Adds an agent, in place of one of that name.
     *
     * @param file what stands in its {@code AGENT.md}
     * @throws IllegalArgumentException if that is no agent; says what is wrong with it
     */
    public TestMillrace agent(String name, String file) {
        try {
            var agent = AgentFile.ofText(name, file).definition();
            agents.add(agent);
            agents.use(agent.name(), agent.version());
            return this;
        } catch (InvalidAgentException e) {
            throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
        }
    }

    /** Adds the agents of a folder, such as {@code agents/}: each has a folder with an {@code AGENT.md}. */
    public TestMillrace agents(Path folder) {
        try (Stream<Path> folders = Files.list(folder)) {
            List<Path> found = folders.filter(one -> Files.isRegularFile(one.resolve(AGENT_FILE)))
                    .sorted()
                    .toList();
            if (found.isEmpty()) {
                throw new IllegalArgumentException(
                        "expected folders with an " + AGENT_FILE + " in " + folder.toAbsolutePath() + ", found none");
            }
            for (Path one : found) {
                agent(String.valueOf(one.getFileName()), Files.readString(one.resolve(AGENT_FILE)));
            }
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What its model says. */
    public TestModel model() {
        return model;
    }

    /** A tool that the test plays; the same one for the same name. */
    public TestTool tool(String name) {
        return tools.computeIfAbsent(name, TestTool::new);
    }

    /** Gives a task to the default agent. */
    public TestTask start(String text) {
        return start(Agents.DEFAULT, text);
    }

    /** Gives a task to an agent, in a conversation of its own. */
    public TestTask start(String agent, String text) {
        return start(agent, text, null);
    }

    /** The same, in a conversation; {@code null} = one of its own. */
    public TestTask start(String agent, String text, @Nullable String sessionId) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("text", text);
        payload.put("taskType", agent);
        Event message = event(KnownEventType.MESSAGE_RECEIVED)
                .sessionId(sessionId)
                .payload(payload)
                .build();
        send(message);
        return new TestTask(this, message.id());
    }

    /** Sends any event, and lets everything happen that follows from it at once. */
    public void send(Event event) {
        machine.send(event);
    }

    /** An event from outside, with a fresh id and the time that it is now. */
    public Event.Builder event(EventType type) {
        String id = Ids.hash("test event " + ++sent).substring(0, 32);
        return Event.root(id, type, machine.now()).source("test");
    }

    /** Everything that has happened, in order. */
    public List<Event> journal() {
        return machine.journal();
    }

    /** Why records were not taken; empty = all were. */
    public List<String> deadLetters() {
        return machine.deadLetters();
    }

    /** What time it is. */
    public Instant now() {
        return machine.now();
    }

    /** Lets time pass, stopping at each timer that is due on the way. */
    public void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("expected a time of 0 or more, found " + time);
        }
        machine.advanceTo(machine.now().plus(time));
    }

    /** Whether there was a timer to jump to. */
    boolean jumpToNextTimer() {
        return machine.jumpToNextTimer();
    }

    @Override
    public void close() {
        machine.close();
    }
}
