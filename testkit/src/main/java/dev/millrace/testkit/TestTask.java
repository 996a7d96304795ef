package dev.millrace.testkit;

import dev.millrace.requests.Reply;
import dev.millrace.requests.ReplyEvents;
import dev.millrace.requests.Request;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * A task of a {@link TestMillrace}. What it does is done when a method returns: it has ended, or waits for somebody
 * or for the time.
 */
public final class TestTask implements AssertProvider<TaskAssert> {

    private final TestMillrace millrace;
    private final String id;

    TestTask(TestMillrace millrace, String id) {
        this.millrace = millrace;
        this.id = id;
    }

    public String id() {
        return id;
    }

    /** What has happened to it, in the order of the journal. */
    public List<Event> events() {
        return millrace.journal().stream()
                .filter(event -> id.equals(event.taskId()))
                .toList();
    }

    /** The tool call that waits for a decision, the oldest first; empty if none does. */
    public Optional<Payload.ApprovalRequested> openApproval() {
        Map<String, Payload.ApprovalRequested> open = new LinkedHashMap<>();
        for (Event event : events()) {
            if (event.payload() instanceof Payload.ApprovalRequested asked) {
                open.put(asked.callId(), asked);
            } else if (event.payload() instanceof Payload.ApprovalDecided decided) {
                open.remove(decided.callId());
            } else if (hasEnded(event)) {
                open.clear();
            }
        }
        return open.values().stream().findFirst();
    }

    /** Lets the call that waits run as it was asked for. */
    public TestTask approve() {
        return decide("approve", null, null);
    }

    /** Lets it run with these arguments, which are all that it gets. */
    public TestTask approve(Map<String, @Nullable Object> params) {
        return decide("approve", params, null);
    }

    /** Does not let it run. */
    public TestTask reject(String reason) {
        return decide("reject", null, reason);
    }

    /** Answers its question. */
    public TestTask answer(String text) {
        millrace.send(millrace.event(KnownEventType.TASK_RESUMED)
                .taskId(id)
                .payload(Map.of("newInput", text))
                .build());
        return this;
    }

    /**
     * Answers the call of a tool that is silent, see {@link TestTool#isSilent}: the oldest one that is out.
     *
     * @param result JSON values
     */
    public TestTask answerCall(String toolName, @Nullable Object result) {
        Map<String, Request> out = new LinkedHashMap<>();
        for (Event event : events()) {
            if (event.payload() instanceof Payload.ToolCallRequested asked
                    && asked.toolName().equals(toolName)) {
                out.put(asked.callId(), DrivenMachine.request(event, asked));
            } else if (event.payload() instanceof Payload.ToolCallCompleted done) {
                out.remove(done.callId());
            } else if (event.payload() instanceof Payload.ToolCallFailed failed) {
                out.remove(failed.callId());
            }
        }
        Request request = out.values().stream()
                .findFirst()
                .orElseThrow(
                        () -> new AssertionError("Expected a call of " + toolName + " that is out, found " + this));
        millrace.send(ReplyEvents.toEvent(request, new Reply.Completed(result, 0), millrace.now()));
        return this;
    }

    /** Cancels it. */
    public TestTask cancel() {
        millrace.send(millrace.event(KnownEventType.TASK_CANCEL_REQUESTED)
                .taskId(id)
                .payload(Map.of())
                .build());
        return this;
    }

    /**
     * Lets time jump from timer to timer until it has ended, or waits for a person with nothing that would end the
     * wait.
     */
    public TestTask await() {
        while (end().isEmpty() && millrace.jumpToNextTimer()) {
            // on to the next one
        }
        return this;
    }

    /** What ended it, the newest if it was taken up again; empty while it goes on or waits. */
    public Optional<Event> end() {
        Event last = null;
        for (Event event : events()) {
            if (hasEnded(event)) {
                last = event;
            } else if (event.type() == KnownEventType.TASK_RESUMED) {
                last = null;
            }
        }
        return Optional.ofNullable(last);
    }

    /** What it answered; empty if it has not completed, or said nothing. */
    public Optional<String> response() {
        return end().map(Event::payload)
                .filter(Payload.TaskCompleted.class::isInstance)
                .map(payload -> ((Payload.TaskCompleted) payload).result().response());
    }

    @Override
    public TaskAssert assertThat() {
        return new TaskAssert(this);
    }

    private static boolean hasEnded(Event event) {
        return event.type() == KnownEventType.TASK_COMPLETED
                || event.type() == KnownEventType.TASK_FAILED
                || event.type() == KnownEventType.TASK_CANCELLED;
    }

    private TestTask decide(String decision, @Nullable Map<String, @Nullable Object> params, @Nullable String reason) {
        Payload.ApprovalRequested asked = openApproval()
                .orElseThrow(() -> new AssertionError("Expected a call that waits for a decision, found " + this));
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", asked.callId());
        payload.put("decision", decision);
        if (params != null) {
            payload.put("params", params);
        }
        if (reason != null) {
            payload.put("reason", reason);
        }
        millrace.send(millrace.event(KnownEventType.APPROVAL_DECIDED)
                .taskId(id)
                .payload(payload)
                .build());
        return this;
    }

    /** What has happened to it, for messages. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("task " + id + ":");
        for (Event event : events()) {
            text.append("\n  ").append(event.type().wireName()).append(' ').append(Objects.toString(event.payload()));
        }
        return text.toString();
    }
}
