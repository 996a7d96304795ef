package dev.millrace.gateway.rest.a2a;

import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.turns.TurnEnd;
import dev.millrace.gateway.rest.turns.TurnFeed;
import dev.millrace.gateway.rest.turns.TurnFold;
import dev.millrace.gateway.rest.turns.TurnPart;
import dev.millrace.schemas.Event;
import java.time.Instant;
import java.util.List;

/** A turn as a stream of A2A, and as the task that it comes to. For one thread. */
final class A2aStory implements TurnFold.Teller {
    private final Event begin;
    private final Sink sink;
    private final TurnFold fold;

    private String taskId;
    private A2aTask.Status status;
    /** As the client has it, in pieces or whole. */
    private final StringBuilder answer = new StringBuilder();
    /** Which text the client is at; before the first one none. */
    private String text = "";

    private boolean working;

    /** Takes what a stream tells. */
    @FunctionalInterface
    interface Sink {
        void send(A2aUpdate update) throws InterruptedException, ClientGoneException;
    }

    A2aStory(Event begin, Sink sink) {
        this.begin = begin;
        this.sink = sink;
        this.taskId = TurnFeed.taskOf(begin);
        this.status = A2aTask.status(A2aTask.State.TASK_STATE_SUBMITTED, begin.timestamp());
        this.fold = new TurnFold(begin, this);
    }

    TurnFold fold() {
        return fold;
    }

    /** The task as far as it was told. */
    A2aTask task() {
        return new A2aTask(
                taskId,
                contextId(),
                status,
                answer.isEmpty() ? List.of() : List.of(A2aTask.Artifact.answer(answer.toString())));
    }

    private String contextId() {
        return begin.sessionId() == null ? taskId : begin.sessionId();
    }

    private A2aTask.About now() {
        return new A2aTask.About(taskId, contextId(), Instant.now());
    }

    @Override
    public void tell(TurnPart part) throws InterruptedException, ClientGoneException {
        switch (part) {
            case TurnPart.Began began -> {
                taskId = began.taskId();
                sink.send(new A2aUpdate.Whole(task()));
            }
            case TurnPart.Words words -> words(words);
            case TurnPart.Withdrawn ignored -> text = "";
            case TurnPart.Said said -> said(said);
            case TurnPart.ToolBegan ignored -> work();
            case TurnPart.ToolEnded ignored -> {}
            case TurnPart.Over over -> over(over.end());
        }
    }

    private void work() throws InterruptedException, ClientGoneException {
        if (!working) {
            working = true;
            move(A2aTask.status(A2aTask.State.TASK_STATE_WORKING, Instant.now()));
        }
    }

    private void move(A2aTask.Status to) throws InterruptedException, ClientGoneException {
        status = to;
        sink.send(new A2aUpdate.Moved(now(), to));
    }

    private void words(TurnPart.Words words) throws InterruptedException, ClientGoneException {
        work();
        String now = words.step() + "/" + words.attempt();
        boolean append = now.equals(text);
        if (!append) {
            text = now;
            answer.setLength(0);
        }
        answer.append(words.delta());
        sink.send(new A2aUpdate.Written(now(), words.delta(), append, false));
    }

    /** What is said before tools are used is no answer; the client hears it as what the task is at. */
    private void said(TurnPart.Said said) throws InterruptedException, ClientGoneException {
        if (!said.last()) {
            move(now().says(A2aTask.State.TASK_STATE_WORKING, List.of(new A2aTask.Part(said.text()))));
        }
    }

    private void over(TurnEnd end) throws InterruptedException, ClientGoneException {
        if (end instanceof TurnEnd.Answered answered && !answered.text().isEmpty()) {
            boolean same = answered.text().contentEquals(answer);
            answer.setLength(0);
            answer.append(answered.text());
            sink.send(new A2aUpdate.Written(now(), same ? "" : answered.text(), same, true));
        } else {
            answer.setLength(0);
        }
        move(now().ends(end));
    }
}
