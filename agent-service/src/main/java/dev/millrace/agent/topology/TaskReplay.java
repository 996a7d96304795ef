package dev.millrace.agent.topology;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentPin;
import dev.millrace.agent.Agents;
import dev.millrace.agent.KnowledgeUse;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.core.ContextWindow;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.Meta;
import dev.millrace.agent.core.SessionHistory;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.Usage;
import dev.millrace.api.Replay;
import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Plays tasks again from their logs: what came is given to the same machine once more, in the same shell but without
 * its stores, and what it decides is compared with what the log says. Nothing is called and nothing is written. What
 * the log tells of the world around (agents, who had to agree, how a call was refused) is taken from there; the limits
 * are those of today. A session's conversation is not in the log of a task: it counts as empty. For any thread.
 */
public final class TaskReplay {

    private static final int MAX_SAID = 2_000;

    private final TaskFsm machine;
    private final ToolRouting routing;
    private final EventMapping mapping;
    private final Agents agents;

    /** For tasks under these limits. */
    public TaskReplay(MachineLimits limits, ToolRouting routing, Agents agents) {
        this.machine = new TaskFsm(limits);
        this.routing = routing;
        this.mapping = new EventMapping(routing);
        this.agents = agents;
    }

    /**
     * A task that was played again.
     *
     * @param log what it was played from
     * @param steps what happened, in order
     * @param calls the model calls that the machine asked for, in order; not those for summaries
     * @param results positions in the transcript of what came of tool calls, by the event that brought it
     * @param transcript all that was said
     */
    public record Played(
            List<JournalEntry> log,
            List<Replay.Step> steps,
            List<Call> calls,
            Map<String, Integer> results,
            List<TranscriptEntry> transcript) {

        public Played {
            log = List.copyOf(log);
            steps = List.copyOf(steps);
            calls = List.copyOf(calls);
            results = Map.copyOf(results);
            transcript = List.copyOf(transcript);
        }

        /** Whether the machine decides today what the log says. */
        public boolean equal() {
            return steps.stream().allMatch(Replay.Step::equal);
        }
    }

    /**
     * A model call.
     *
     * @param index position in the log of the event that asks for it
     * @param inputSeq position in the transcript of the input that the task worked on
     * @param length how much of the transcript there was
     * @param window what of that the model was shown
     */
    public record Call(int index, int inputSeq, int length, ContextWindow window) {}

    /**
     * Plays.
     *
     * @param taskId the task
     * @param log all its events, in the order of the journal
     * @return empty if the log does not have what started the task: it is no longer there
     */
    public Optional<Played> play(String taskId, List<JournalEntry> log) {
        for (int i = 0; i < log.size(); i++) {
            Event event = log.get(i).event();
            if (event.id().equals(taskId) && event.payload() instanceof Payload.TaskInput) {
                return Optional.of(new Run(taskId, log, event).toTheEnd());
            }
        }
        return Optional.empty();
    }

    /** One go. For one thread. */
    private final class Run {
        private final List<JournalEntry> log;
        private final Map<String, Event> byId = new HashMap<>();
        private final boolean reflects;
        private final Optional<KnowledgeUse.EntityScope> entities;
        private final AgentPin agent;
        private final TreeMap<Integer, TranscriptEntry> transcript = new TreeMap<>();
        private final List<Replay.Step> steps = new ArrayList<>();
        private final List<Call> calls = new ArrayList<>();
        private final Map<String, Integer> results = new HashMap<>();
        private final Set<String> taken = new HashSet<>();
        private StoredTask task;
        private int at;

        Run(String taskId, List<JournalEntry> log, Event start) {
            this.log = log;
            log.forEach(entry -> byId.put(entry.event().id(), entry.event()));
            this.reflects = log.stream().anyMatch(entry -> entry.event().type() == KnownEventType.REFLECTION_REQUESTED);
            this.entities = log.stream()
                    .map(entry -> entry.event().payload())
                    .filter(Payload.EntityExtract.class::isInstance)
                    .map(payload -> TaskRecords.scope((Payload.EntityExtract) payload))
                    .flatMap(Optional::stream)
                    .findFirst();
            this.task = StoredTask.absent(start, taskId, start.timestamp().toEpochMilli());
            this.agent = pin(start);
        }

        /** The agent that the task began with, as the log has it. */
        private AgentPin pin(Event start) {
            String model = start.payload() instanceof Payload.MessageReceived message ? message.model() : null;
            List<String> above = Parentage.agents(start);
            for (JournalEntry entry : log) {
                if (entry.event().payload() instanceof Payload.TaskCreated created) {
                    String version = created.agentVersion();
                    String reference = version == null
                            ? created.taskType()
                            : AgentDefinition.referenceOf(created.taskType(), version);
                    return new AgentPin(reference, model, Map.of(), above);
                }
            }
            return new AgentPin(Agents.DEFAULT, model, Map.of(), above);
        }

        Played toTheEnd() {
            while (at < log.size()) {
                step();
            }
            return new Played(log, steps, calls, results, new ArrayList<>(transcript.values()));
        }

        private void step() {
            Event next = log.get(at).event();
            Taken found = follows(next);
            take(found == null ? brought(next) : found);
        }

        /**
         * Something that the machine takes.
         *
         * @param move what follows; {@code null} = nothing
         * @param own whether what happened stands itself in the journal
         */
        private record Taken(Replay.Cause cause, @Nullable TaskMove move, boolean own, long nowMs) {}

        /** What happens without an event of its own, if that leads to this one; {@code null} = it does not. */
        private @Nullable Taken follows(Event next) {
            String parentId = next.parentEventId();
            if (parentId == null || !(task.state() instanceof TaskState.Existing)) {
                return null;
            }
            long nowMs = next.timestamp().toEpochMilli();
            Event parent = byId.get(parentId);
            if (parent != null && task.state().wantsAdmission()) {
                Event cause = task.adopt(parent);
                Meta meta = Moves.meta(task, cause, Moves.ADMITTED, next.timestamp());
                SessionHistory history = task.sessionId() == null ? null : SessionHistory.EMPTY;
                TaskMove move = move();
                move.advance(cause, new TaskEvent.Admitted(meta, task.usage(), history));
                if (begins(move, next)) {
                    return new Taken(new Replay.Cause("admission", parentId, null, null), move, false, nowMs);
                }
            }
            if (parentId.equals(task.lastEventId())) {
                Event cause = task.lastEvent();
                Meta meta = Moves.meta(task, cause, Moves.TIME_PASSED, next.timestamp());
                TaskMove move = move();
                move.advance(cause, new TaskEvent.TimePassed(meta, 0));
                if (begins(move, next)) {
                    return new Taken(new Replay.Cause("time", parentId, null, null), move, false, nowMs);
                }
            }
            if (parent != null && parent.type() == KnownEventType.TASK_CANCEL_REQUESTED && !taken.contains(parentId)) {
                // it came before the task did
                TaskMove move = move();
                if (mapping.ofTask(parent, task.taskId(), task.agent(), nowMs)
                        instanceof EventMapping.ForTask(TaskEvent cancel)) {
                    move.advance(task.adopt(parent), cancel);
                }
                if (begins(move, next)) {
                    return new Taken(
                            new Replay.Cause("event", parentId, parent.type().wireName(), null), move, false, nowMs);
                }
            }
            return null;
        }

        private static boolean begins(TaskMove move, Event next) {
            return move.discarded() == null
                    && !move.journal().isEmpty()
                    && move.journal().getFirst().id().equals(next.id());
        }

        /** An event that came from outside of the machine. */
        private Taken brought(Event event) {
            long nowMs = clock(event);
            Replay.Cause cause = cause("event");
            Replay.Cause noted = cause("noted");
            boolean elsewhere = event.taskId() != null && !event.taskId().equals(task.taskId());
            if (elsewhere
                    || (task.state() instanceof TaskState.Absent && !event.id().equals(task.taskId()))) {
                return new Taken(noted, null, true, nowMs);
            }
            EventMapping.Mapped mapped = event.type().isOpen()
                    ? mapping.fromLane(event, task.taskId(), task.agent(), nowMs)
                    : mapping.ofTask(event, task.taskId(), task.agent(), nowMs);
            if (!(mapped instanceof EventMapping.ForTask(TaskEvent happened))) {
                return new Taken(noted, null, true, nowMs);
            }
            TaskMove move = move();
            move.apply(task.adopt(event), asRecorded(happened, event));
            boolean nothing = move.discarded() != null || (event.expiry() != null && !isFollowed(move));
            return new Taken(nothing ? noted : cause, nothing ? null : move, true, nowMs);
        }

        /** Whether the log has anything of what follows: of what came after its expiry it has not. */
        private boolean isFollowed(TaskMove move) {
            List<Event> decided = move.journal();
            return decided.size() < 2
                    || at == log.size() - 1
                    || decided.stream().skip(1).anyMatch(event -> byId.containsKey(event.id()));
        }

        private Replay.Cause cause(String kind) {
            JournalEntry entry = log.get(at);
            Event event = entry.event();
            return new Replay.Cause(
                    kind, event.id(), event.type().wireName(), entry.cursor().toString());
        }

        /** When the machine took an event: what follows from it says so. */
        private long clock(Event event) {
            if (at + 1 < log.size()) {
                Event next = log.get(at + 1).event();
                if (event.id().equals(next.parentEventId())) {
                    return next.timestamp().toEpochMilli();
                }
            }
            return event.timestamp().toEpochMilli();
        }

        private TaskMove move() {
            return new TaskMove(
                    machine,
                    (start, nowMs) -> agent,
                    new TaskMove.Afterwards(reflects, pin -> entities),
                    task,
                    transcript::get);
        }

        private TaskEvent asRecorded(TaskEvent event, Event told) {
            RecordedWorld world = new RecordedWorld(log, at, clock(told));
            return switch (event) {
                case TaskEvent.InputReceived input
                when task.state() instanceof TaskState.Absent ->
                    world.start(input, AgentDefinition.nameIn(agent.reference()), limits(told));
                case TaskEvent.ModelReplied reply -> world.reply(reply, routing.sequential(agent));
                case TaskEvent.QuestionAsked asked -> world.question(asked);
                case TaskEvent.CancelRequested cancel when cancel.interruption() != null -> world.interruption(cancel);
                default -> event;
            };
        }

        /** What the agent that the task began with allowed, and those above it. */
        private TaskLimits limits(Event start) {
            TaskLimits limits =
                    Parentage.of(start, Usage.NONE) == null ? TaskLimits.UNLIMITED : Parentage.limits(start);
            List<String> references = new ArrayList<>(agent.above());
            references.add(agent.reference());
            for (String reference : references) {
                limits = agents.find(reference)
                        .map(definition -> definition.limits().asTaskLimits())
                        .map(limits::atMost)
                        .orElse(limits);
            }
            return limits;
        }

        private void take(Taken found) {
            TaskState before = task.state();
            TaskMove move = found.move();
            List<Event> decided = move == null ? List.of() : move.journal();
            if (move != null) {
                taken.add(found.cause().eventId());
            }
            if (found.own()) {
                decided = decided.isEmpty() ? decided : decided.subList(1, decided.size());
                at++;
            }
            List<Replay.Said> said = new ArrayList<>();
            if (move != null) {
                move.appended().forEach((seq, entry) -> {
                    transcript.put(seq, entry);
                    said.add(said(seq, entry));
                    if (entry instanceof TranscriptEntry.ToolResult) {
                        results.putIfAbsent(found.cause().eventId(), seq);
                    }
                });
                task = move.task();
            }
            List<Replay.Decision> compared = compare(decided);
            boolean same =
                    compared.stream().allMatch(decision -> decision.outcome().equals("same"));
            steps.add(new Replay.Step(
                    steps.size() + 1,
                    found.cause(),
                    found.nowMs(),
                    before.label(),
                    task.state().label(),
                    waits(task.state()),
                    budget(task.state()),
                    said,
                    compared,
                    same));
        }

        /** Goes on in the log behind everything that is there of what was decided. */
        private List<Replay.Decision> compare(List<Event> decided) {
            Map<String, Event> open = new HashMap<>();
            decided.forEach(event -> open.put(event.id(), event));
            List<Replay.Decision> compared = new ArrayList<>();
            int behind = at;
            while (at < log.size()) {
                Event recorded = log.get(at).event();
                Event mine = open.remove(recorded.id());
                if (mine != null) {
                    note(recorded, at);
                    compared.add(compare(recorded, mine));
                } else if (isDecidedElsewhere(recorded)) {
                    break;
                } else {
                    compared.add(decision(recorded, "not_decided", null));
                }
                at++;
            }
            // what comes in one transaction may still be on its way
            boolean cut = at == log.size() && at - behind < decided.size();
            if (!cut) {
                decided.stream()
                        .filter(event -> open.containsKey(event.id()))
                        .forEach(event -> compared.add(decision(event, "not_recorded", null)));
            }
            return compared;
        }

        /** Whether something else leads to this event: it is none that the machine alone writes, or has a cause. */
        private boolean isDecidedElsewhere(Event recorded) {
            boolean machines = recorded.type() instanceof KnownEventType known && known.machineOnly();
            return !machines || follows(recorded) != null;
        }

        private void note(Event recorded, int index) {
            if (recorded.payload() instanceof Payload.ModelCallRequested asked
                    && asked.purpose() == null
                    && task.state() instanceof TaskState.Existing existing) {
                TaskContext context = existing.context();
                calls.add(new Call(index, context.inputSeq(), context.transcriptLength(), context.window()));
            }
        }

        private static Replay.Decision compare(Event recorded, Event decided) {
            Map<String, Replay.Difference> differences = differences(recorded, decided);
            return differences.isEmpty()
                    ? decision(recorded, "same", null)
                    : decision(recorded, "differs", differences);
        }
    }

    private static Replay.Decision decision(
            Event event, String outcome, @Nullable Map<String, Replay.Difference> differences) {
        return new Replay.Decision(event.id(), event.type().wireName(), outcome, differences);
    }

    private static Map<String, Replay.Difference> differences(Event recorded, Event decided) {
        Map<String, Replay.Difference> differences = new TreeMap<>();
        JsonNode one = tree(recorded);
        JsonNode other = tree(decided);
        Set<String> names = new TreeSet<>();
        one.fieldNames().forEachRemaining(names::add);
        other.fieldNames().forEachRemaining(names::add);
        for (String name : names) {
            JsonNode was = one.get(name);
            JsonNode is = other.get(name);
            if (was == null ? is != null : !was.equals(is)) {
                differences.put(name, new Replay.Difference(was, is));
            }
        }
        return differences;
    }

    private static JsonNode tree(Event event) {
        try {
            return Json.MAPPER.readTree(Json.write(event.fields()));
        } catch (IOException e) {
            throw new UncheckedIOException("expected what was just written as JSON", e);
        }
    }

    private static Replay.Said said(int seq, TranscriptEntry entry) {
        return switch (entry) {
            case TranscriptEntry.UserText user -> said(seq, "user", user.text());
            case TranscriptEntry.Summary summary -> said(seq, "summary", summary.text());
            case TranscriptEntry.ToolResult result -> said(seq, "tool", result.content());
            case TranscriptEntry.AssistantTurn turn -> {
                StringBuilder text = new StringBuilder(turn.text() == null ? "" : turn.text());
                turn.toolCalls()
                        .forEach(call -> text.append(text.isEmpty() ? "" : "\n")
                                .append(call.toolName())
                                .append(' ')
                                .append(call.arguments()));
                yield said(seq, "assistant", text.toString());
            }
        };
    }

    private static Replay.Said said(int seq, String role, String text) {
        return new Replay.Said(seq, role, JsonText.cut(text, MAX_SAID));
    }

    private static Replay.@Nullable Waits waits(TaskState state) {
        Payload.WaitingFor waiting = StateReport.waitingFor(state);
        return waiting == null
                ? null
                : new Replay.Waits(waiting.kind(), waiting.callIds(), waiting.question(), waiting.until());
    }

    private static Task.@Nullable Budget budget(TaskState state) {
        if (!(state instanceof TaskState.Existing existing)) {
            return null;
        }
        Payload.Budget used = StateReport.budget(existing.context());
        return new Task.Budget(
                used.iterations(),
                used.maxIterations(),
                used.inputTokens(),
                used.outputTokens(),
                used.maxTokens(),
                used.costMicros(),
                used.maxCostMicros(),
                used.expiresAt());
    }

    /** When something happened, in Unix milliseconds. */
    static long millis(@Nullable String time, long otherwise) {
        return time == null ? otherwise : Instant.parse(time).toEpochMilli();
    }
}
