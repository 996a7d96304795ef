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
import dev.millrace.agent.files.RuleFile;
import dev.millrace.agent.files.ScheduleFile;
import dev.millrace.agent.rules.Rule;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.schedule.ScheduleBook;
import dev.millrace.agent.schedule.ScheduleLimits;
import dev.millrace.agent.schedule.Schedules;
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
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

    private static final ScheduleLimits SCHEDULE_LIMITS = new ScheduleLimits(1_000, Duration.ofSeconds(1));

    private final Agents agents = BuiltInAgents.agents();
    private final Rules rules = new Rules(RuleFile.builtIn(), Rules.Bounds.DEFAULT);
    private final List<Rule> given = new ArrayList<>();
    private final Schedules schedules = new Schedules();
    private final ToolRouting routing;
    private final Map<String, TestTool> tools = new TreeMap<>();
    private final TestModel model = new TestModel();
    private final DrivenMachine machine;
    private int sent;

    /** One with the built-in agents and no tools. */
    public TestMillrace() {
        this.routing = new ToolRouting(agents, new Catalogue(tools), new Approvals(APPROVAL_EXPIRY));
        this.machine = new DrivenMachine(
                new TaskFsm(MachineLimits.DEFAULT),
                new DrivenMachine.Definitions(routing, rules, schedules),
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

    /**
     * Adds rules, behind those that were added before.
     *
     * @param yaml what stands in a file of rules
     * @throws IllegalArgumentException if it is none; says what is wrong with it
     */
    public TestMillrace rules(String yaml) {
        try {
            given.addAll(RuleFile.read(yaml));
            rules.useFiles(given);
            return this;
        } catch (InvalidAgentException e) {
            throw new IllegalArgumentException("rules: " + e.getMessage(), e);
        }
    }

    /** Adds the rules of a folder, such as {@code rules/}: its files {@code *.yaml}, by their names. */
    public TestMillrace rules(Path folder) {
        yamls(folder).forEach(this::rules);
        return this;
    }

    /**
     * Adds schedules, which count from now on; one of a name that there is takes its place.
     *
     * @param yaml what stands in a file of schedules
     * @throws IllegalArgumentException if it is none; says what is wrong with it
     */
    public TestMillrace schedules(String yaml) {
        ScheduleBook book =
                new ScheduleBook(schedules, (key, value) -> true, SCHEDULE_LIMITS, Clock.fixed(now(), ZoneOffset.UTC));
        try {
            for (ScheduleFile.Entry entry : ScheduleFile.read(yaml)) {
                if (book.put(entry.namespace(), entry.name(), entry.fields())
                        instanceof ScheduleBook.Refused(List<String> problems)) {
                    throw new IllegalArgumentException(
                            "schedules." + entry.name() + ": " + String.join("; ", problems));
                }
            }
            return this;
        } catch (InvalidAgentException e) {
            throw new IllegalArgumentException("schedules: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("this book waits for nobody", e);
        }
    }

    /** Adds the schedules of a folder, such as {@code schedules/}: its files {@code *.yaml}, by their names. */
    public TestMillrace schedules(Path folder) {
        yamls(folder).forEach(this::schedules);
        return this;
    }

    private static List<String> yamls(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            List<String> texts = new ArrayList<>();
            for (Path file : files.filter(one -> one.toString().endsWith(".yaml"))
                    .sorted()
                    .toList()) {
                texts.add(Files.readString(file));
            }
            if (texts.isEmpty()) {
                throw new IllegalArgumentException(
                        "expected files *.yaml in " + folder.toAbsolutePath() + ", found none");
            }
            return texts;
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

    /**
     * Something happens outside, and rules say what follows.
     *
     * @param type one that is not in the catalogue, such as {@code order.placed}
     * @param sessionId the conversation that it belongs to; {@code null} = none
     */
    public void happens(String type, @Nullable String sessionId, Map<String, @Nullable Object> payload) {
        send(event(EventType.of(type)).sessionId(sessionId).payload(payload).build());
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

    /** All tasks that there were, whoever has started them, the first one first. */
    public List<TestTask> tasks() {
        return journal().stream()
                .map(Event::taskId)
                .filter(Objects::nonNull)
                .distinct()
                .map(id -> new TestTask(this, id))
                .toList();
    }

    /** The process ends and another one takes over: all that it knows is what is in its stores. */
    public void restart() {
        machine.restart();
    }

    /**
     * Plays a task of another Millrace again, such as one in production: what came to it is given to the machine of
     * today, with the agents of today. No model and no tool is asked: their answers are in the journal, and so are the
     * decisions of people. Nothing of it comes into the journal here.
     *
     * @param journal what {@code ./millrace events TASK --json} has printed
     * @throws IllegalArgumentException if that is no journal of a task from its start on, or of an agent that there is
     *     not
     */
    public TestReplay replay(Path journal) {
        return TestReplay.of(journal, agents, routing);
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
