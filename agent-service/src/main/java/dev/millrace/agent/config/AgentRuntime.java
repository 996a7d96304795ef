package dev.millrace.agent.config;

import dev.millrace.agent.Agents;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.Passages;
import dev.millrace.agent.Reserved;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.files.AgentFolder;
import dev.millrace.agent.files.RuleBook;
import dev.millrace.agent.kafka.Definitions;
import dev.millrace.agent.kafka.InstanceEvents;
import dev.millrace.agent.kafka.JournalFollower;
import dev.millrace.agent.kafka.TokenProducer;
import dev.millrace.agent.kafka.ToolsetWatch;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.schedule.ScheduleBook;
import dev.millrace.agent.schedule.ScheduleLimits;
import dev.millrace.agent.telemetry.CallSpans;
import dev.millrace.agent.telemetry.JournalSpans;
import dev.millrace.agent.thinker.LiveText;
import dev.millrace.agent.thinker.Thinker;
import dev.millrace.agent.topology.LocalTools;
import dev.millrace.agent.topology.Occupancy;
import dev.millrace.agent.topology.SessionLookup;
import dev.millrace.agent.topology.ShellMetrics;
import dev.millrace.agent.topology.StreamsTranscripts;
import dev.millrace.agent.topology.TaskShellSettings;
import dev.millrace.agent.topology.TaskStreams;
import dev.millrace.agent.topology.TaskTopology;
import dev.millrace.engine.Inbox;
import dev.millrace.engine.LaneProducer;
import dev.millrace.engine.MachineRunner;
import dev.millrace.engine.MachineStreams;
import dev.millrace.engine.OpenStores;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.RecordLoop;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.telemetry.Telemetry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The agent service as one object: starts its parts in order on a thread of its own, waiting for brokers and topics as
 * long as it takes, and stops them in the opposite order.
 */
public final class AgentRuntime implements AutoCloseable {

    private static final Duration CATCH_UP_LIMIT = Duration.ofSeconds(30);

    private final ClientSettings kafka;
    private final Settings settings;
    private final Parts parts;
    private final Topics topics;
    private final Definitions definitions;
    private final LaneProducer lanes;
    private final TokenProducer tokens;
    private final LiveText live;
    private final OpenStores rows = new OpenStores();
    private final Inbox<Event> inbox = new Inbox<>();
    private final ToolRouting routing;
    private final InstanceEvents instance;
    private final AtomicReference<@Nullable JournalFollower> follower = new AtomicReference<>();
    private final MachineRunner runner;

    /**
     * What it is told from outside.
     *
     * @param shutdownGrace how long model calls that run may go on when it stops; zero = not at all
     */
    public record Settings(
            TopicSettings topicSettings,
            MachineLimits limits,
            Duration approvalExpiry,
            Definitions.AgentFiles agentFiles,
            int memoryIndexBytes,
            TaskShellSettings shell,
            TaskStreams.Settings streams,
            InstanceEvents.Settings instance,
            Duration shutdownGrace,
            LiveText.Settings live) {}

    /**
     * What it works with.
     *
     * @param dispatcher makes model calls; closed with the runtime
     * @param localTools tools that run in this process
     * @param sessions knows which session a task belongs to
     * @param occupancy is told how busy the machine is
     * @param tracing takes the spans of tasks; it is not closed with the runtime
     * @param rules say what follows from events that are for no task
     * @param passages finds what agents are shown of documents
     * @param reserved tools and agents that are for some namespaces only
     */
    public record Parts(
            Agents agents,
            ModelDispatcher dispatcher,
            LocalTools localTools,
            SessionLookup sessions,
            ShellMetrics metrics,
            Occupancy occupancy,
            Tracing tracing,
            Rules rules,
            Passages passages,
            Reserved reserved) {

        /** Parts without telemetry, and with no tools. */
        public Parts(
                Agents agents,
                ModelDispatcher dispatcher,
                SessionLookup sessions,
                ShellMetrics metrics,
                Occupancy occupancy) {
            this(
                    agents,
                    dispatcher,
                    LocalTools.NONE,
                    sessions,
                    metrics,
                    occupancy,
                    new Tracing(Telemetry.OFF, false),
                    Rules.off(),
                    Passages.NONE,
                    Reserved.NOTHING);
        }
    }

    /** Where spans go, and whether what is said goes with them. */
    public record Tracing(Telemetry telemetry, boolean content) {}

    public AgentRuntime(ClientSettings kafka, Settings settings, Parts parts) {
        this.kafka = kafka;
        this.settings = settings;
        this.parts = parts;
        this.topics = settings.shell().topics();
        this.definitions = new Definitions(
                kafka,
                topics,
                new Definitions.Kept(parts.agents(), parts.rules(), new MemoryIndex(settings.memoryIndexBytes())),
                settings.agentFiles());
        this.lanes = new LaneProducer(kafka, topics, "millrace-agent-replies");
        this.tokens = new TokenProducer(kafka, topics);
        this.live = new LiveText(settings.live(), tokens, Clock.systemUTC());
        this.routing = new ToolRouting(
                parts.agents(),
                definitions.tools(),
                new Approvals(settings.approvalExpiry()),
                parts.reserved(),
                settings.shell().background().timeout());
        this.instance = new InstanceEvents(lanes, settings.instance(), parts.occupancy(), Clock.systemUTC());
        this.runner = new MachineRunner(
                kafka, "agent-start", new MachineRunner.Installation(topics, settings.topicSettings()), new Steps());
    }

    /** Begins to start and returns at once. Once. */
    public void start() {
        runner.start();
    }

    /** Empty if the machine takes records; else what it waits for or why it stopped, for people. */
    public Optional<String> notReady() {
        return runner.notReady();
    }

    /** Why the machine stopped for good; empty while it runs or may still recover. */
    public Optional<Throwable> fatal() {
        return runner.fatal();
    }

    /** Pieces of live text that were stored, since the start. */
    public long tokensSent() {
        return tokens.sent();
    }

    /** Pieces of live text that were lost, since the start. */
    public long tokensLost() {
        return tokens.lost();
    }

    /** What reads topics beside the machine. */
    public List<RecordLoop> readers() {
        List<RecordLoop> readers = new ArrayList<>(definitions.readers());
        JournalFollower following = follower.get();
        if (following != null) {
            readers.add(following.loop());
        }
        return readers;
    }

    /** Records that {@link #readers} could not use, since the start. */
    public long skipped() {
        return readers().stream().mapToLong(RecordLoop::skipped).sum();
    }

    /** Reads and writes schedules. */
    public ScheduleBook scheduleBook(ScheduleLimits limits) {
        return new ScheduleBook(definitions.schedules(), definitions.publisher(), limits, Clock.systemUTC());
    }

    /** Shows rules, and writes definitions of them. */
    public RuleBook ruleBook() {
        return new RuleBook(parts.rules(), definitions.publisher());
    }

    /** The tools that are served. */
    public ToolCatalogue tools() {
        return definitions.tools();
    }

    /** Who works on the calls of the tools. */
    public ToolsetWatch toolsets() {
        return definitions.toolsets();
    }

    /** The tools and where their calls go. */
    public ToolRouting routing() {
        return routing;
    }

    /** The files of agents that are no good. */
    public List<AgentFolder.Problem> problems() {
        return definitions.problems();
    }

    private final class Steps implements MachineRunner.Steps {

        private boolean reading;

        @Override
        public @Nullable String prepare() throws InterruptedException {
            if (!reading) {
                reading = true;
                definitions.start();
            }
            if (!definitions.awaitCaughtUp(CATCH_UP_LIMIT)) {
                return "the definitions of tools and agents";
            }
            definitions.publishOwn();
            return null;
        }

        @Override
        public MachineStreams machine() {
            Thinker thinker = new Thinker(new Thinker.Wiring(
                    parts.dispatcher(),
                    definitions.agents(),
                    routing,
                    definitions.memory(),
                    parts.passages(),
                    new StreamsTranscripts(rows),
                    lanes,
                    inbox,
                    live,
                    new CallSpans(
                            parts.tracing().telemetry(),
                            parts.dispatcher().model(),
                            parts.tracing().content()),
                    Clock.systemUTC(),
                    topics.lane(Segment.COGNITIVE),
                    settings.shell().replies()));
            return TaskStreams.of(
                    kafka,
                    settings.streams(),
                    TaskTopology.build(
                            settings.shell(),
                            new TaskFsm(settings.limits()),
                            new TaskTopology.Surroundings(
                                    routing,
                                    thinker,
                                    inbox,
                                    rows,
                                    parts.localTools(),
                                    definitions.schedules(),
                                    parts.sessions(),
                                    parts.metrics(),
                                    parts.occupancy(),
                                    parts.tracing().telemetry().on(),
                                    parts.rules())));
        }

        @Override
        public void started() {
            instance.start();
            followJournal();
        }
    }

    /** For the spans of tasks and tool calls, if they go anywhere. */
    private void followJournal() {
        Tracing tracing = parts.tracing();
        if (!tracing.telemetry().on()) {
            return;
        }
        JournalFollower started = new JournalFollower(
                kafka,
                topics.journal(),
                topics.prefix() + "telemetry",
                new JournalSpans(tracing.content(), tracing.telemetry()::emit),
                Clock.systemUTC());
        follower.set(started);
        started.start();
    }

    /**
     * Says so; lets model calls that run come to their end and their replies get onto the lane, within the grace
     * period, while the machine still takes what is there, so that nobody else makes the same calls; then aborts the
     * rest (they are made again after the next start), commits, leaves the group and closes the clients.
     */
    @Override
    public void close() {
        runner.stopStarting();
        instance.close();
        parts.dispatcher().close(settings.shutdownGrace());
        runner.close();
        JournalFollower following = follower.get();
        if (following != null) {
            following.close();
        }
        lanes.close();
        live.close();
        tokens.close();
        definitions.close();
    }
}
