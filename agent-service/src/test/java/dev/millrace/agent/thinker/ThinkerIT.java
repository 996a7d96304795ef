package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.Agents;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.Passages;
import dev.millrace.agent.ServedTools;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.files.AgentFile;
import dev.millrace.agent.telemetry.CallSpans;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.agent.topology.ReplySecrets;
import dev.millrace.engine.Inbox;
import dev.millrace.engine.LaneProducer;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.telemetry.Telemetry;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What is told of model calls, and to whom, while partitions come and go; on the lanes of a real broker. */
@RequiresBroker
class ThinkerIT {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int PARTITION = 0;
    private static final String FAILS = "fails";

    private final Inbox<Event> inbox = new Inbox<>();
    private final GatedModel model = new GatedModel();
    private final ModelDispatcher dispatcher = new ModelDispatcher(
            model, new DispatcherLimits(1, 1, Duration.ofMinutes(1), Duration.ofMillis(1), Duration.ofMillis(1)));
    private final LiveText live =
            new LiveText(new LiveText.Settings(false, Duration.ZERO), event -> {}, Clock.systemUTC());
    private LaneProducer lanes;
    private Thinker thinker;
    private TopicReader lane;

    @BeforeEach
    void open(TestBroker broker) throws Exception {
        Topics topics = broker.createTopics(1);
        lane = broker.read(topics.lane(Segment.COGNITIVE));
        lanes = new LaneProducer(ClientSettings.at(broker.bootstrapServers()), topics, "thinker");
        Agents agents = new Agents(List.of(AgentFile.ofText(Agents.DEFAULT, "---\ndescription: d\ntools: []\n---\np\n")
                .definition()));
        thinker = new Thinker(new Thinker.Wiring(
                dispatcher,
                agents,
                new ToolRouting(agents, new ServedTools(toolset -> true), new Approvals(Duration.ofHours(1))),
                new MemoryIndex(1_000),
                Passages.NONE,
                (partition, call) -> Optional.of(List.of(new TranscriptEntry.UserText(call.taskId()))),
                lanes,
                inbox,
                live,
                new CallSpans(Telemetry.OFF, model, false),
                Clock.systemUTC(),
                topics.lane(Segment.COGNITIVE),
                ReplySecrets.none()));
    }

    @AfterEach
    void close() {
        dispatcher.close();
        live.close();
        lanes.close();
        lane.close();
    }

    @Test
    @DisplayName("where the partition is taken, replies and failures are handed over and put on the lane")
    void shouldTellWhoeverTakesThePartition() throws Exception {
        try (Inbox.Box<Event> box = inbox.open(PARTITION, record -> false)) {
            thinker.request(PARTITION, call("replies"));
            thinker.request(PARTITION, call(FAILS));
            model.gate.release(2);

            assertThat(lane.untilCount(2, LIMIT))
                    .allSatisfy(record -> assertThat(record.headers().lastHeader(HeaderNames.HANDED))
                            .isNotNull());
            assertThat(types()).containsExactly("REASON_DONE", "MODEL_CALL_FAILED");
            assertThat(List.of(taken(box), taken(box))).containsExactly("REASON_DONE", "MODEL_CALL_FAILED");
        }
    }

    @Test
    @DisplayName("where it is not, a reply that was paid for is on the lane all the same, and a failure is not:"
            + " whoever has the task makes the call again")
    void shouldNotFailATaskThatIsElsewhere() throws Exception {
        thinker.request(PARTITION, call(FAILS));
        thinker.request(PARTITION, call("replies"));
        model.gate.release(2);

        assertThat(lane.untilCount(1, LIMIT)).hasSize(1);
        assertThat(types()).containsExactly("REASON_DONE");
    }

    @Test
    @DisplayName("calls that wait are dropped when their partition is given up, and may be asked for again")
    void shouldDropWhatWaits() throws Exception {
        // given
        thinker.request(PARTITION, call("runs"));
        assertThat(model.asked.poll(LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo("runs");
        thinker.request(PARTITION, call("waits"));
        thinker.request(PARTITION + 1, call("another's"));

        // when
        thinker.leave(PARTITION);

        // then
        assertThat(dispatcher.queued()).isOne();
        model.gate.release(2);
        lane.untilCount(2, LIMIT);
        assertThat(model.asked).containsExactly("another's");
        assertThat(thinker.requestAgain(PARTITION, call("waits"))).isTrue();
    }

    private List<String> types() {
        return lane.events(all -> true, LIMIT).stream()
                .map(event -> event.type().wireName())
                .toList();
    }

    private static String taken(Inbox.Box<Event> box) {
        Event event = box.poll();
        return event == null ? "nothing" : event.type().wireName();
    }

    private static OutstandingCall call(String taskId) {
        return new OutstandingCall(
                taskId + "/1",
                Event.DEFAULT_NAMESPACE,
                taskId,
                null,
                taskId,
                taskId,
                null,
                new AgentPin(Agents.DEFAULT, null, Map.of(), List.of()),
                100,
                1,
                1,
                OutstandingCall.Shown.ALL,
                0,
                0);
    }

    /** Answers when it may, and fails the call of one task. */
    private static final class GatedModel implements LanguageModel {
        private final Semaphore gate = new Semaphore(0);
        private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();

        @Override
        public ModelReply chat(ModelRequest request) throws ModelCallException {
            String task = request.callId().substring(0, request.callId().indexOf('/'));
            asked.add(task);
            gate.acquireUninterruptibly();
            if (task.equals(FAILS)) {
                throw new ModelCallException(ModelErrorCode.BAD_REQUEST, "on demand");
            }
            return new ModelReply("said", null, List.of(), FinishReason.STOP, ModelReply.Usage.NONE, "m");
        }

        @Override
        public String name() {
            return "m";
        }

        @Override
        public String description() {
            return "answers when it may";
        }
    }
}
