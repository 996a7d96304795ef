package dev.millrace.agent.topology;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Targeting;
import dev.millrace.agent.core.TaskState;
import dev.millrace.schemas.EnvironmentType;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Gives what is said in a session of several participants to those whom it is for: what people say, and what agents
 * answer, which becomes the input of the next one. What was said stands in the session's history once, whoever is given
 * it. For one stream thread.
 */
final class SessionTurns {

    /** As long as a message may be. */
    private static final int MAX_TEXT = 100_000;

    private static final String SOURCE = "agent";

    private final Sessions sessions;
    private final EventMapping mapping;

    /** With these sessions, and the agents that the mapping knows. */
    SessionTurns(Sessions sessions, EventMapping mapping) {
        this.sessions = sessions;
        this.mapping = mapping;
    }

    /**
     * Who is given something.
     *
     * @param first the message as the first one is given it; {@code null} = nobody is, and it is only shown
     * @param others messages for the others, which have to go on the lanes
     * @param turn what the journal is told of it
     */
    record Given(@Nullable Event first, List<Event> others, Event turn) {}

    /**
     * Who is given a message that nobody has addressed to an agent; {@code null} = the session is not one of several
     * participants, so all is as ever.
     */
    @Nullable
    Given give(Event event, Payload.MessageReceived message, Instant now) {
        List<String> participants = participants(event);
        if (participants.isEmpty() || message.taskType() != null || message.fork() != null) {
            return null;
        }
        List<String> targets = Targeting.of(
                String.valueOf(message.said()),
                Targeting.PEOPLE,
                participants,
                name -> mapping.isAgent(name, event.namespace()));
        if (targets.isEmpty()) {
            return new Given(null, List.of(), turn(event, now, Targeting.PEOPLE, null, List.of(), null));
        }
        List<Event> others = new ArrayList<>();
        for (int i = 1; i < targets.size(); i++) {
            others.add(event.derive(KnownEventType.MESSAGE_RECEIVED, i, now)
                    .taskId(null)
                    .priority(event.effectivePriority())
                    .causalDepth(event.causalDepth())
                    .expiry(event.expiry())
                    .payload(message.to(
                            targets.get(i), message.sender(), new Payload.Conversation(participants, event.id())))
                    .build());
        }
        Event first = event.toBuilder()
                .payload(message.to(targets.getFirst(), message.sender(), new Payload.Conversation(participants, null)))
                .build();
        List<Event> all = new ArrayList<>(List.of(first));
        all.addAll(others);
        return new Given(first, others, turn(event, now, Targeting.PEOPLE, null, all, null));
    }

    /** The event says who takes part from now on, if it says anything of that. */
    void note(Event event, Payload.MessageReceived message, long receivedMs, Instant now) {
        String sessionId = event.sessionId();
        if (sessionId != null
                && message.thread() != null
                && message.thread().spokenIn() == null
                && !message.thread().participants().isEmpty()) {
            sessions.join(
                    event.namespace(), sessionId, message.thread().participants(), receivedMs, now.toEpochMilli());
        }
    }

    /**
     * Who is given what an agent has said with the end of its task; {@code null} = the task has not ended, or its
     * session is not one of several participants.
     *
     * @param journal what the journal is told of the move
     */
    @Nullable
    Given follow(StoredTask after, List<Event> journal, Instant now) {
        if (after.parent() != null || !Moves.hasEnded(after) || after.sessionId() == null) {
            return null;
        }
        List<String> participants = sessions.participants(after.conversation());
        Event end = journal.isEmpty() ? null : end(journal);
        if (participants.isEmpty() || end == null || !(after.state() instanceof TaskState.Existing state)) {
            return null;
        }
        String speaker = AgentDefinition.nameIn(after.agent().reference());
        String said = end.payload() instanceof Payload.TaskCompleted completed
                ? completed.result().response()
                : null;
        List<String> targets = said == null || said.isBlank()
                ? List.of()
                : Targeting.of(
                        said,
                        speaker,
                        participants,
                        name -> mapping.isAgent(name, after.namespace()) && mapping.mayAddress(after.agent(), name));
        int depth = state.context().causalDepth() + 1;
        if (!targets.isEmpty() && depth > state.context().budget().limits().maxCausalDepth()) {
            return new Given(
                    null,
                    List.of(),
                    turn(end, now, speaker, after.taskId(), List.of(), ErrorCode.CAUSAL_DEPTH_LIMIT.code()));
        }
        List<Event> next = new ArrayList<>();
        for (int i = 0; i < targets.size(); i++) {
            next.add(end.derive(KnownEventType.MESSAGE_RECEIVED, i, now)
                    .taskId(null)
                    .source(SOURCE)
                    .sessionId(after.sessionId())
                    .priority(state.context().priority())
                    .causalDepth(depth)
                    .payload(new Payload.MessageReceived(
                            JsonText.cut(String.valueOf(said), MAX_TEXT),
                            null,
                            List.of(),
                            List.of(),
                            targets.get(i),
                            null,
                            null,
                            null,
                            null,
                            null,
                            null,
                            new Payload.Sender(Payload.Sender.AGENT, speaker, null),
                            new Payload.Conversation(participants, after.taskId())))
                    .build());
        }
        return new Given(null, next, turn(end, now, speaker, after.taskId(), next, ended(end)));
    }

    private List<String> participants(Event event) {
        return event.sessionId() == null
                ? List.of()
                : sessions.participants(StoredTask.conversation(event.namespace(), event.sessionId()));
    }

    private static @Nullable Event end(List<Event> journal) {
        for (Event event : journal.reversed()) {
            if (event.type() == KnownEventType.TASK_COMPLETED
                    || event.type() == KnownEventType.TASK_FAILED
                    || event.type() == KnownEventType.TASK_CANCELLED) {
                return event;
            }
        }
        return null;
    }

    private static @Nullable String ended(Event end) {
        return switch (end.payload()) {
            case Payload.TaskFailed failed -> failed.code();
            case Payload.TaskCancelled cancelled -> "cancelled";
            default -> null;
        };
    }

    private static Event turn(
            Event cause,
            Instant now,
            String speaker,
            @Nullable String taskId,
            List<Event> next,
            @Nullable String ended) {
        return cause.derive(EnvironmentType.SESSION_TURN, 0, now)
                .taskId(null)
                .source(SOURCE)
                .payload(JsonObject.builder()
                        .put("speaker", speaker)
                        .putIfPresent("taskId", taskId)
                        .put("next", next.stream().map(SessionTurns::next).toList())
                        .putIfPresent("ended", ended)
                        .build())
                .build();
    }

    private static Map<String, String> next(Event given) {
        String agent = given.payload() instanceof Payload.MessageReceived message ? message.taskType() : null;
        return Map.of("agent", String.valueOf(agent), "taskId", given.id());
    }
}
