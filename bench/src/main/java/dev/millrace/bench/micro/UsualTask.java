package dev.millrace.bench.micro;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.Effect;
import dev.millrace.agent.core.Fact;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.Meta;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.Transition;
import dev.millrace.agent.core.Usage;
import dev.millrace.agent.topology.StoredTask;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A task as there are many: a question, tool calls all at once, each with a result of 5 KB, and an answer. The machine
 * itself says what follows, so that these are its own states and call ids.
 *
 * @param moves all moves of the task, from its input to its end
 */
record UsualTask(List<Move> moves) {

    static final TaskFsm MACHINE = new TaskFsm(MachineLimits.DEFAULT);
    static final String TASK_ID = "01981d3e-7a00-7c3f-9d2a-3f1f5c9b1a01";

    private static final String SESSION_ID = "01981d3e-79f1-7a4b-8c11-5d0f2a7e9b33";
    private static final long NOW_MS = 1_800_000_000_000L;
    private static final String QUESTION = """
            Our night run of the billing job has become slower since the release of last Tuesday. Please find out where the \
            time goes: look for every place in the sources that reads invoices one at a time, tell me which of them are in a \
            loop, and suggest what to change first. "Batch size" may be of interest.""";
    private static final String ANSWER = """
            Three places read invoices one at a time in a loop. The worst is `InvoiceExport.writeAll`, which asks the database \
            for each invoice and again for each of its lines.\n\n1. Read invoices in pages of 500.\n2. Fetch lines with them.\n\
            3. Keep the customers' addresses for the length of the run.""";
    private static final String TOOL = "search_files";
    private static final String ARGUMENTS =
            "{\"pattern\":\"invoiceRepository\\\\.find(ById|One)\\\\(\",\"path\":\"billing/src/main/java\",\"limit\":50}";
    private static final ToolCall.Run RUN = new ToolCall.Run("general", 30_000, null);
    private static final int RESULT_CHARS = 5_000;
    private static final Usage USAGE = new Usage(2_312, 141, 1_180);
    private static final long CONTEXT_WINDOW = 200_000;

    UsualTask {
        moves = List.copyOf(moves);
    }

    /** One call of the machine. */
    record Move(TaskState before, TaskEvent event) {}

    /** With so many tool calls in the one reply that has any. */
    static UsualTask withToolCalls(int count) {
        List<Move> moves = new ArrayList<>();
        Deque<TaskEvent> due = new ArrayDeque<>();
        due.add(new TaskEvent.InputReceived(meta(0), QUESTION, "general", 100, TaskEvent.Terms.NONE));
        TaskState state = TaskState.ABSENT;
        while (!due.isEmpty()) {
            TaskEvent event = due.removeFirst();
            moves.add(new Move(state, event));
            Transition transition = MACHINE.transition(state, event);
            if (!transition.accepted()) {
                throw new IllegalStateException("the machine did not take " + event);
            }
            state = transition.next();
            for (Effect effect : transition.effects()) {
                due.addAll(answer(effect, meta(moves.size() + due.size()), count));
            }
        }
        if (!(state instanceof TaskState.Completed)) {
            throw new IllegalStateException("the task did not come to its end but to " + state);
        }
        return new UsualTask(moves);
    }

    /** What comes of an effect, if something does. */
    private static List<TaskEvent> answer(Effect effect, Meta meta, int toolCalls) {
        return switch (effect) {
            case Effect.RequestAdmission e -> List.of(new TaskEvent.Admitted(meta, Usage.NONE));
            case Effect.FollowUp e when e.fact() instanceof Fact.Created -> List.of(new TaskEvent.TaskCreated(meta));
            case Effect.FollowUp e
            when e.fact() instanceof Fact.StepDone done -> List.of(new TaskEvent.StepCompleted(meta, done.stepIndex()));
            case Effect.CallModel call
            when call.iteration() == 1 -> List.of(reply(meta, call.callId(), null, calls(toolCalls)));
            case Effect.CallModel call -> List.of(reply(meta, call.callId(), ANSWER, List.of()));
            case Effect.CallTool call ->
                List.of(new TaskEvent.ToolReturned(
                        meta, call.callId(), Json.writeText(result()), false, null, Usage.NONE));
            default -> List.of();
        };
    }

    private static TaskEvent reply(Meta meta, String callId, @Nullable String text, List<ToolCall> calls) {
        return new TaskEvent.ModelReplied(meta, callId, text, calls, false, USAGE, CONTEXT_WINDOW, null);
    }

    private static List<ToolCall> calls(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new ToolCall("call_Jb8sPq2vX0nT4yLr" + i, TOOL, ARGUMENTS, RUN))
                .toList();
    }

    private static Meta meta(int number) {
        return new Meta(eventId(number), TASK_ID, Instant.ofEpochMilli(NOW_MS), NOW_MS);
    }

    private static String eventId(int number) {
        return number == 0 ? TASK_ID : String.format("01981d3e-7b%02x-7e0a-b4c8-91d7c2f0a6e4", number);
    }

    /** The first move with an event of this kind. */
    Move first(Class<? extends TaskEvent> kind) {
        return moves.stream()
                .filter(move -> kind.isInstance(move.event()))
                .findFirst()
                .orElseThrow();
    }

    /** Its row while it waits for all of its tool calls. */
    StoredTask row() {
        return new StoredTask(
                Event.DEFAULT_NAMESPACE,
                TASK_ID,
                SESSION_ID,
                TASK_ID,
                null,
                null,
                eventId(3),
                4_711,
                NOW_MS + RUN.timeoutMs() + MachineLimits.DEFAULT.toolCallGraceMs(),
                NOW_MS,
                new AgentPin("general@1", null, Map.of()),
                first(TaskEvent.ToolReturned.class).before(),
                new StoredTask.Lineage(NOW_MS, List.of()));
    }

    /** The transcript's entry of one tool call's result. */
    static TranscriptEntry resultEntry() {
        return new TranscriptEntry.ToolResult("call_Jb8sPq2vX0nT4yLr0", TOOL, Json.writeText(result()), false);
    }

    /** The transcript's entry of a reply that asks for one tool call. */
    static TranscriptEntry callEntry() {
        return new TranscriptEntry.AssistantTurn(
                null, List.of(new TranscriptEntry.Call("call_Jb8sPq2vX0nT4yLr0", TOOL, ARGUMENTS)));
    }

    /** An event of the task, as it travels. */
    static Event event(KnownEventType type) {
        Event.Builder event = Event.root(eventId(5), type, Instant.ofEpochMilli(NOW_MS))
                .taskId(TASK_ID)
                .sessionId(SESSION_ID)
                .traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        String callId = TASK_ID + "/1/0-1-9f2c41d7";
        return switch (type) {
            case MESSAGE_RECEIVED ->
                event.source("gateway")
                        .taskId(null)
                        .payload(Map.of("text", QUESTION))
                        .build();
            case TOOL_CALL_COMPLETED ->
                event.source("tool.general")
                        .correlationId(TASK_ID)
                        .parentEventId(eventId(4))
                        .payload(Map.of("callId", callId, "toolName", TOOL, "result", result(), "durationMs", 38))
                        .build();
            case REASON_DONE ->
                event.source("cognitive.reason")
                        .correlationId(TASK_ID)
                        .parentEventId(eventId(4))
                        .payload(replyPayload(callId))
                        .build();
            default -> throw new IllegalArgumentException("no benchmark needs a " + type);
        };
    }

    private static Payload replyPayload(String callId) {
        return new Payload.ReasonDone(
                callId,
                null,
                "tool_use",
                false,
                List.of(new Payload.RequestedCall(
                        "call_Jb8sPq2vX0nT4yLr0",
                        TOOL,
                        JsonObject.of(Map.of(
                                "pattern", "invoiceRepository\\.find(ById|One)\\(",
                                "path", "billing/src/main/java",
                                "limit", 50)),
                        null)),
                List.of(new Payload.Step(0, "Call " + TOOL, "tool_call", TOOL)),
                "claude-sonnet",
                "tool_calls",
                new Payload.Usage(2_312, 141, null, null, 1_180L, null, null),
                List.of(),
                "general",
                null,
                null,
                200_000L,
                null);
    }

    /** What a search in files finds: 5 KB, with what JSON has to escape. */
    private static Object result() {
        List<Match> matches = new ArrayList<>();
        for (int chars = 0;
                chars < RESULT_CHARS;
                chars += Json.writeText(matches.getLast()).length() + 1) {
            matches.add(new Match(
                    "billing/src/main/java/com/example/billing/export/Step" + matches.size() + ".java",
                    40 + 7 * matches.size(),
                    "\t\tlog.info(\"invoice {}\", invoiceRepository.findById(line.invoiceId()).number());"));
        }
        return Json.MAPPER.convertValue(new Found(matches, false), Object.class);
    }

    private record Match(String path, int line, String text) {}

    private record Found(List<Match> matches, boolean truncated) {}
}
