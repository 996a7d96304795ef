package dev.millrace.gateway.rest.a2a;

import dev.millrace.api.Task;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.streams.TaskPast;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.gateway.rest.turns.TurnFeed;
import dev.millrace.gateway.rest.turns.TurnInputs;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Makes turns of what clients of A2A say. */
@Singleton
class A2aTurns {
    private static final Duration CANCEL_PATIENCE = Duration.ofSeconds(10);

    private final A2aTasks tasks;
    private final TurnInputs inputs;
    private final TurnFeed turns;
    private final TaskIntake intake;
    private final Access access;

    @Inject
    A2aTurns(A2aTasks tasks, TurnInputs inputs, TurnFeed turns, TaskIntake intake, Access access) {
        this.tasks = tasks;
        this.inputs = inputs;
        this.turns = turns;
        this.intake = intake;
        this.access = access;
    }

    /** A turn that is to begin: with the last of these events or, if there are none, with one that was sent. */
    record Turn(Event begin, List<Event> toSend) {}

    /**
     * The turn that a message begins.
     *
     * @throws A2aFault if it cannot be done
     */
    Turn turn(A2aSend send, A2aDoor.Place place) throws QueryUnavailableException, InterruptedException {
        try {
            String taskId = send.taskId();
            return taskId == null ? fresh(send, place) : sequel(send, tasks.found(place, taskId, false), place);
        } catch (IllegalArgumentException e) {
            throw new A2aFault(A2aFault.Reason.INVALID_PARAMS, String.valueOf(e.getMessage()));
        }
    }

    private Turn fresh(A2aSend send, A2aDoor.Place place) {
        if (!send.decisions().isEmpty()) {
            throw A2aFault.params("message.taskId", "the task that the decision is about", "none");
        }
        String id = id(send, place, 0);
        Event event = stamped(TurnInputs.root(id, KnownEventType.MESSAGE_RECEIVED, place.namespace())
                .sessionId(send.contextId() == null ? id : send.contextId())
                .payload(new Payload.MessageReceived(
                        send.text(), null, List.of(), List.of(), place.agent(), null, null, null, null))
                .build());
        return new Turn(event, List.of(event));
    }

    private Turn sequel(A2aSend send, Task task, A2aDoor.Place place)
            throws QueryUnavailableException, InterruptedException {
        if (send.contextId() != null && !send.contextId().equals(A2aTasks.contextId(task))) {
            throw A2aFault.params("message.contextId", "the one of the task, or none", "another one");
        }
        if (A2aTasks.state(task) != A2aTask.State.TASK_STATE_INPUT_REQUIRED) {
            // it may be that the client did not hear the answer to this very message
            return turns.event(new TurnFeed.Name(place.namespace(), id(send, place, 0)))
                    .filter(sent -> task.taskId().equals(sent.taskId()))
                    .map(sent -> new Turn(sent, List.of()))
                    .orElseThrow(() -> new A2aFault(
                            A2aFault.Reason.UNSUPPORTED_OPERATION,
                            "Task " + task.taskId() + ": expected one that is INPUT_REQUIRED, found one that is "
                                    + task.state() + ". Without taskId a message in the same contextId goes on."));
        }
        boolean asks = TurnInputs.asks(task);
        if (asks != send.decisions().isEmpty()) {
            throw asks
                    ? A2aFault.params("message.parts", "an answer to the question", "decisions about tool calls")
                    : A2aFault.params(
                            "message.parts", "data with callId, approve and perhaps reason for a tool call", "words");
        }
        List<Event.Builder> made =
                asks ? List.of(inputs.goOn(task, send.text())) : inputs.decided(place.namespace(), send.decisions());
        List<Event> events = new ArrayList<>();
        for (Event.Builder one : made) {
            Event event = one.build();
            if (!task.taskId().equals(event.taskId())) {
                throw A2aFault.params("message.parts", "decisions about tool calls of the task", "another one");
            }
            // the last one has the id of the message: the turn begins with it
            int ordinal = made.size() - 1 - events.size();
            events.add(
                    stamped(TurnInputs.root(id(send, place, ordinal), (KnownEventType) event.type(), place.namespace())
                            .taskId(event.taskId())
                            .sessionId(event.sessionId())
                            .payload(event.payload())
                            .build()));
        }
        return new Turn(events.getLast(), events);
    }

    private Event stamped(Event event) {
        Event stamped = access.stamped(event);
        intake.requireValid(stamped);
        return stamped;
    }

    /** Of the client's own ids, so that the same message a second time is no other one. */
    private String id(A2aSend send, A2aDoor.Place place, int ordinal) {
        String who = access.principal() == null ? "" : access.principal();
        String where = send.taskId() != null ? send.taskId() : send.contextId() == null ? "" : send.contextId();
        return Ids.hash(String.join("\n", "a2a", place.agent(), who, where, send.messageId(), "" + ordinal))
                .substring(0, 32);
    }

    /**
     * Cancels a task, and waits a little until it is.
     *
     * @throws A2aFault if it has ended
     */
    A2aTask cancel(A2aDoor.Place place, String taskId)
            throws QueryUnavailableException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        Task task = tasks.found(place, taskId, true);
        if (A2aTasks.state(task).isTerminal()) {
            throw new A2aFault(
                    A2aFault.Reason.TASK_NOT_CANCELABLE,
                    "Task " + taskId + ": expected one that goes on, found one that is " + task.state() + ".");
        }
        intake.accept(List.of(access.stamped(TurnInputs.root(KnownEventType.TASK_CANCEL_REQUESTED, place.namespace())
                .taskId(taskId)
                .sessionId(task.sessionId())
                .payload(new Payload.TaskCancelRequested("its client has cancelled it"))
                .build())));
        long end = System.nanoTime() + CANCEL_PATIENCE.toNanos();
        for (int looked = 1; ; looked++) {
            Task now = tasks.found(place, taskId, true);
            if (A2aTasks.state(now).isTerminal() || System.nanoTime() - end > 0) {
                return A2aTasks.told(now);
            }
            Thread.sleep(TaskPast.UNTIL_TOLD.after(looked, null));
        }
    }
}
