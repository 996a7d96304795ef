package dev.millrace.agent.topology;

import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.schedule.Schedules;
import dev.millrace.engine.Inbox;
import dev.millrace.engine.ModelCalls;
import dev.millrace.engine.OpenStores;
import dev.millrace.engine.Outgoing;
import dev.millrace.engine.Sender;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.Event;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.StoreBuilder;

/**
 * The topology of the task machine: one source over all lanes, which a node for their dates follows, one
 * processor with the stores, one sink. One sub-topology,
 * so that everything about a conversation meets on one partition, whichever lane it came by. Names of nodes and stores
 * are part of the state: {@code src/test/resources/topology.txt} holds them.
 */
public final class TaskTopology {

    /** How often it is looked whether the time of something has come. */
    public static final Duration TICK = Duration.ofMillis(200);

    static final String SOURCE = "lanes";
    static final String DATES = "dates";
    static final String PROCESSOR = "task-machine";
    static final String SINK = "out";

    private TaskTopology() {}

    /**
     * What the machine has around it; all of it safe for any thread.
     *
     * @param routing says where tool calls go
     * @param modelCalls makes model calls
     * @param sessions knows tasks of other partitions
     * @param inbox by which replies come from hand to hand
     * @param rows by which others read what the machine has written
     * @param localTools tools that run here
     * @param schedules are fired when they are due
     * @param occupancy is told how busy it is
     * @param tracing whether spans go anywhere: then a worker's request carries the span of its tool call
     * @param rules say what follows from events that are for no task
     */
    public record Surroundings(
            ToolRouting routing,
            ModelCalls<OutstandingCall> modelCalls,
            Inbox<Event> inbox,
            OpenStores rows,
            LocalTools localTools,
            Schedules schedules,
            SessionLookup sessions,
            ShellMetrics metrics,
            Occupancy occupancy,
            boolean tracing,
            Rules rules) {

        /** Surroundings without telemetry, where everything comes by lanes and goes out by topics. */
        public Surroundings(
                ToolRouting routing,
                ModelCalls<OutstandingCall> modelCalls,
                SessionLookup sessions,
                ShellMetrics metrics,
                Occupancy occupancy) {
            this(
                    routing,
                    modelCalls,
                    new Inbox<>(),
                    new OpenStores(),
                    LocalTools.NONE,
                    new Schedules(),
                    sessions,
                    metrics,
                    occupancy,
                    false,
                    Rules.off());
        }
    }

    /** What the processors share; safe for any thread. */
    record Parts(TaskFsm machine, EventMapping mapping, Surroundings around) {
        ModelCalls<OutstandingCall> modelCalls() {
            return around.modelCalls();
        }

        LocalTools localTools() {
            return around.localTools();
        }

        Schedules schedules() {
            return around.schedules();
        }

        ToolRouting routing() {
            return around.routing();
        }

        Inbox<Event> inbox() {
            return around.inbox();
        }

        OpenStores rows() {
            return around.rows();
        }

        SessionLookup sessions() {
            return around.sessions();
        }

        ShellMetrics metrics() {
            return around.metrics();
        }

        Occupancy occupancy() {
            return around.occupancy();
        }

        boolean tracing() {
            return around.tracing();
        }

        Rules rules() {
            return around.rules();
        }
    }

    /**
     * Builds the topology.
     *
     * @param machine decides
     */
    public static Topology build(TaskShellSettings settings, TaskFsm machine, Surroundings around) {
        Parts parts = new Parts(machine, new EventMapping(around.routing()), around);
        Map<Integer, Map<String, String>> begun = new ConcurrentHashMap<>();
        Topology topology = new Topology();
        topology.addSource(
                AutoOffsetReset.earliest(),
                SOURCE,
                settings.lanePriority() ? LaneOrder.byPriority(settings.topics()) : LaneOrder.byDate(),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer(),
                settings.topics().lanes().toArray(String[]::new));
        topology.addProcessor(DATES, LaneDates::new, SOURCE);
        topology.addProcessor(
                PROCESSOR,
                new ProcessorSupplier<byte[], LaneDates.Dated, byte[], Outgoing>() {
                    @Override
                    public Processor<byte[], LaneDates.Dated, byte[], Outgoing> get() {
                        return new TaskProcessor(parts, settings, begun);
                    }

                    @Override
                    public Set<StoreBuilder<?>> stores() {
                        return Set.of(
                                StoreSection.store(TaskStores.ROWS),
                                TaskStores.seen(settings.seenRetention()),
                                TaskStores.cancels(EarlyCancels.RETENTION));
                    }
                },
                DATES);
        Sender.addSink(topology, SINK, PROCESSOR);
        return topology;
    }
}
