package dev.millrace.testkit;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * What a test expects of a task; {@code assertThat(task)} of AssertJ gives it. What fails shows everything that has
 * happened.
 */
public final class TaskAssert extends AbstractAssert<TaskAssert, TestTask> {

    TaskAssert(TestTask task) {
        super(task, TaskAssert.class);
    }

    /** It has completed. */
    public TaskAssert completed() {
        return ended(KnownEventType.TASK_COMPLETED);
    }

    /** It has completed with this answer. */
    public TaskAssert completedWith(String text) {
        completed();
        String said = actual.response().orElse("");
        return said.equals(text) ? this : differs("the answer \"" + text + "\"", "\"" + said + "\"");
    }

    /** It has failed with this code. */
    public TaskAssert failedWith(String code) {
        ended(KnownEventType.TASK_FAILED);
        String found = actual.end().orElseThrow().payload() instanceof Payload.TaskFailed failed ? failed.code() : "";
        return found.equals(code) ? this : differs("the code " + code, found);
    }

    /** It was cancelled. */
    public TaskAssert cancelled() {
        return ended(KnownEventType.TASK_CANCELLED);
    }

    /** It goes on, or waits. */
    public TaskAssert hasNotEnded() {
        return actual.end().isEmpty()
                ? this
                : differs("that it goes on", actual.end().get().type().wireName());
    }

    /** A call of this tool waits for a decision. */
    public TaskAssert waitsForApprovalOf(String toolName) {
        String found =
                actual.openApproval().map(Payload.ApprovalRequested::toolName).orElse("no open approval");
        return found.equals(toolName) ? this : differs("a wait for the approval of " + toolName, found);
    }

    /** The same, of a call with these arguments. */
    public TaskAssert waitsForApprovalOf(String toolName, Map<String, @Nullable Object> params) {
        waitsForApprovalOf(toolName);
        Map<String, @Nullable Object> found =
                actual.openApproval().orElseThrow().params();
        return found.equals(params) ? this : differs("the arguments " + params, found.toString());
    }

    /** It waits for an answer to this question. */
    public TaskAssert asks(String question) {
        hasNotEnded();
        String found = "no question";
        for (Event event : actual.events()) {
            if (event.payload() instanceof Payload.TaskSuspended suspended && suspended.question() != null) {
                found = suspended.question();
            } else if (event.type() == KnownEventType.TASK_RESUMED) {
                found = "no question";
            }
        }
        return found.equals(question) ? this : differs("the question \"" + question + "\"", found);
    }

    /** So many model calls were made for it. */
    public TaskAssert madeModelCalls(int count) {
        long found = count(KnownEventType.MODEL_CALL_REQUESTED);
        return found == count ? this : differs(count + " model calls", Long.toString(found));
    }

    /** These types of events stand in its journal, in this order, with others in between or not. */
    public TaskAssert wentThrough(EventType... types) {
        int next = 0;
        for (Event event : actual.events()) {
            if (next < types.length && event.type().equals(types[next])) {
                next++;
            }
        }
        return next == types.length
                ? this
                : differs(types[next].wireName() + " as number " + (next + 1) + " of what it went through", "none");
    }

    /** Each of its events but the first is caused by one before it. */
    public TaskAssert isOneChain() {
        Set<String> known = new HashSet<>();
        List<String> loose = new ArrayList<>();
        for (Event event : actual.events()) {
            if (event.parentEventId() == null
                    ? !known.isEmpty() && isInner(event)
                    : !known.contains(event.parentEventId())) {
                loose.add(event.type().wireName());
            }
            known.add(event.id());
        }
        return loose.isEmpty() ? this : differs("one chain", "without a cause: " + loose);
    }

    /** Decisions and answers come from outside and have no cause. */
    private static boolean isInner(Event event) {
        return event.type() != KnownEventType.APPROVAL_DECIDED
                && event.type() != KnownEventType.TASK_RESUMED
                && event.type() != KnownEventType.TASK_CANCEL_REQUESTED;
    }

    private TaskAssert ended(EventType type) {
        String found = actual.end().map(event -> event.type().wireName()).orElse("that it has not ended");
        return found.equals(type.wireName()) ? this : differs(type.wireName(), found);
    }

    private long count(EventType type) {
        return actual.events().stream()
                .filter(event -> event.type().equals(type))
                .count();
    }

    private TaskAssert differs(String expected, String found) {
        failWithMessage("Expected %s, found %s.\n%s", expected, found, Objects.toString(actual));
        return this;
    }
}
