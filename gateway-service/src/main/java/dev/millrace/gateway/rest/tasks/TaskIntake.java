package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.Session;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventSender;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.query.KnownAgents;
import dev.millrace.gateway.query.Quotas;
import dev.millrace.gateway.query.RecentTasks;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The door: what comes through here is checked, and on its lane when the call returns. */
@Singleton
public class TaskIntake {
    private static final Set<KnownEventType> STARTERS =
            Set.of(KnownEventType.MESSAGE_RECEIVED, KnownEventType.WEBHOOK_TRIGGERED, KnownEventType.SCHEDULE_FIRED);

    private static final String OBSERVED = "observed";
    private static final String FORK = "fork";
    private static final String THREAD = "thread";
    private static final Set<String> OF_THE_MACHINE = Set.of("parent", OBSERVED, FORK);

    private final Bodies bodies;
    private final EventSender sender;
    private final KnownAgents agents;
    private final RecentTasks recent;
    private final Quotas quotas;

    @Inject
    TaskIntake(Bodies bodies, EventSender sender, KnownAgents agents, RecentTasks recent, Quotas quotas) {
        this.bodies = bodies;
        this.sender = sender;
        this.agents = agents;
        this.recent = recent;
        this.quotas = quotas;
    }

    /**
     * The whole body of a request, once there is room for it.
     *
     * @param limit in bytes; a longer body is a 413
     */
    public Bodies.Body read(InputStream body, long limit) throws IOException, InterruptedException {
        return bodies.read(body, limit);
    }

    /**
     * Refuses a task for an agent that there is not. While that cannot be told every agent is taken.
     *
     * @param agent {@code null} = the default one
     * @param namespace of the task
     */
    public void requireAgent(@Nullable String agent, String namespace) throws InterruptedException {
        Optional<SortedSet<String>> known = agent == null ? Optional.empty() : agents.namesWith(agent, namespace);
        if (agent != null && known.isPresent() && !known.get().contains(agent)) {
            throw new ProblemException(new Problem(
                    422,
                    "unknown_agent",
                    "Unknown agent",
                    "There is no agent " + agent + "; there are: " + String.join(", ", known.get()) + ".",
                    Map.of("agents", List.copyOf(known.get()))));
        }
    }

    /** Refuses an event that would start a task for an agent that there is not. */
    public void requireAgent(Event event) throws InterruptedException {
        if (starts(event)) {
            String agent = event.payload() instanceof Payload.TaskInput input ? input.taskType() : null;
            requireAgent(agent == null || agent.isBlank() ? null : agent, event.namespace());
            if (event.payload() instanceof Payload.MessageReceived message && message.thread() != null) {
                for (String one : message.thread().participants()) {
                    requireAgent(one.equals(Session.PEOPLE) ? null : one, event.namespace());
                }
            }
        }
    }

    private static boolean starts(Event event) {
        return event.taskId() == null && event.type() instanceof KnownEventType type && STARTERS.contains(type);
    }

    /** Refuses an event whose payload its type does not take. */
    public void requireValid(Event event) {
        List<String> problems = problems(event);
        if (!problems.isEmpty()) {
            throw new ProblemException(new Problem(
                    422,
                    "invalid_payload",
                    "The payload is not what its type takes",
                    event.type().wireName() + " " + event.id() + ": " + String.join("; ", problems),
                    Map.of("eventId", event.id(), "problems", problems)));
        }
    }

    private static List<String> problems(Event event) {
        List<String> problems = EventSchemas.problems(event);
        return problems.isEmpty()
                        && starts(event)
                        && event.payload() instanceof Payload.TaskInput input
                        && input.template() != null
                        && input.text() == null
                ? new InputTemplate(input.template()).problems(event.fields())
                : problems;
    }

    /**
     * Without what only the task machine knows: a task that would wait for the one of this event, since the answer
     * would count as the result of one of that task's tool calls; and an event that a rule has handed over, and what
     * was said in a task that is forked, since the model would take what the sender says for a tool's result.
     */
    private static Event withoutTheMachines(Event event) {
        boolean says =
                switch (event.payload()) {
                    case Payload.MessageReceived message ->
                        message.parent() != null
                                || message.observed() != null
                                || message.fork() != null
                                || wasSpoken(message);
                    case Payload.TaskResumed resumed -> resumed.parent() != null;
                    default -> false;
                };
        if (!says) {
            return event;
        }
        JsonObject payload = event.fields().without(OF_THE_MACHINE);
        if (payload.get(THREAD) instanceof JsonObject thread) {
            payload = JsonObject.builder()
                    .putAll(payload)
                    .put(THREAD, thread.without(Set.of("spokenIn")))
                    .build();
        }
        return event.toBuilder().payload(payload).build();
    }

    private static boolean wasSpoken(Payload.MessageReceived message) {
        return message.thread() != null && message.thread().spokenIn() != null;
    }

    /**
     * An event that is sent in place of another one: what only the machines say is in it what they have said in that
     * one, but for a task that would wait.
     */
    static Event inPlaceOf(Event original, Event event) {
        Event rest = withoutTheMachines(event);
        if (!(original.payload() instanceof Payload.MessageReceived message)) {
            return rest;
        }
        JsonObject said = original.fields();
        return rest.toBuilder()
                .payload(JsonObject.builder()
                        .putAll(rest.fields())
                        .putIfPresent(OBSERVED, said.get(OBSERVED))
                        .putIfPresent(FORK, said.get(FORK))
                        .putIfPresent(THREAD, wasSpoken(message) ? said.get(THREAD) : null)
                        .build())
                .build();
    }

    /**
     * Puts valid events on their lanes.
     *
     * @throws ProblemException if a namespace may not start so many tasks now; then nothing is accepted
     */
    public void accept(List<Event> accepted) throws BrokerUnavailableException, EventTooLargeException {
        put(accepted.stream().map(TaskIntake::withoutTheMachines).toList());
    }

    /** Puts a fork on its lane, as agent-service has made it, or another try: with what the machines say in it. */
    void acceptWithTheMachines(Event event) throws BrokerUnavailableException, EventTooLargeException {
        put(List.of(event));
    }

    private void put(List<Event> events) throws BrokerUnavailableException, EventTooLargeException {
        Set<Event> distinct = new LinkedHashSet<>(events);
        requireQuota(distinct.stream().filter(TaskIntake::starts).toList());
        sender.send(List.copyOf(distinct));
        events.stream().filter(TaskIntake::starts).forEach(recent::add);
    }

    private void requireQuota(List<Event> starting) {
        Map<String, Integer> tasks = new TreeMap<>();
        starting.forEach(event -> tasks.merge(event.namespace(), 1, Integer::sum));
        for (Map.Entry<String, Integer> one : tasks.entrySet()) {
            Optional<Quotas.Exceeded> exceeded = quotas.take(one.getKey(), one.getValue());
            if (exceeded.isPresent()) {
                throw refusal(one.getKey(), exceeded.get());
            }
        }
    }

    private static ProblemException refusal(String namespace, Quotas.Exceeded quota) {
        return new ProblemException(
                new Problem(
                        429,
                        "quota_exceeded",
                        "A quota is used up",
                        "Tasks of the namespace " + namespace + ": expected at most " + quota.limit() + " ("
                                + quota.name() + " of millrace.gateway.quotas), found " + quota.found()
                                + ". Nothing was accepted.",
                        Map.of("quota", quota.name(), "limit", quota.limit(), "namespace", namespace)),
                quota.retryAfter());
    }
}
