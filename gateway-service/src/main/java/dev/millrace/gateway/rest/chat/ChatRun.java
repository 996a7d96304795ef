package dev.millrace.gateway.rest.chat;

import dev.millrace.gateway.kafka.FactListener;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Follows the task that a message of an OpenAI client has started, to its answer. If a task of the session waits for an
 * answer, the message is that answer, and the task that goes on is the one that is followed. For one thread.
 */
final class ChatRun {

    /** How long a step waits, so that a client that is gone is noticed soon. */
    private static final Duration TICK = Duration.ofMillis(250);

    private final Event message;
    private final Duration atMost;
    private final Watcher watcher;

    private String taskId;
    private String finishReason = "stop";
    private long inputTokens;
    private long outputTokens;
    private long cachedInputTokens;
    private long reasoningTokens;

    /** Who looks on while the task runs. Each call may block, and may end the run by an exception. */
    interface Watcher {

        /** A model is just saying this, as a part of the reply to a call. */
        void saying(String callId, long attempt, String delta) throws InterruptedException, ClientGoneException;

        /**
         * The agent has said this; it goes on, or not.
         *
         * @param callId the call that it is the whole text of; {@code null} = of none
         */
        void said(@Nullable String callId, String text) throws InterruptedException, ClientGoneException;

        /** Some time has passed. */
        void alive() throws InterruptedException, ClientGoneException;
    }

    /**
     * What came of it.
     *
     * @param taskId the task that gave the answer
     * @param text the answer, or the question that it asks
     * @param finishReason in OpenAI's words
     */
    record Answer(String taskId, String text, String finishReason, ChatCompletion.Usage usage) {}

    /**
     * For one message that is not yet sent.
     *
     * @param atMost how long the task may take
     */
    ChatRun(Event message, Duration atMost, Watcher watcher) {
        this.message = message;
        this.taskId = message.id();
        this.atMost = atMost;
        this.watcher = watcher;
    }

    /** What a listener has to hear: the message's own task, and whatever happens in its session. */
    JournalFilter filter() {
        String sessionId = message.sessionId();
        return JournalFilter.task(message.namespace(), message.id())
                .or(labels -> sessionId != null
                        && sessionId.equals(labels.sessionId())
                        && labels.namespace().equals(message.namespace()));
    }

    /** The task that is followed now. */
    String taskId() {
        return taskId;
    }

    /**
     * Waits for the answer.
     *
     * @throws ChatException if the task fails, is cancelled by somebody else, or takes too long
     */
    Answer await(FactListener source) throws InterruptedException, ClientGoneException {
        long end = System.nanoTime() + atMost.toNanos();
        try {
            while (System.nanoTime() < end) {
                FactListener.Heard heard = source.next(TICK);
                if (heard == null) {
                    watcher.alive();
                    continue;
                }
                Answer answer = take(heard.event());
                if (answer != null) {
                    return answer;
                }
            }
        } catch (ListenerDroppedException e) {
            throw leftAlone();
        }
        throw ChatException.tooLate("The task " + taskId + " had not ended after " + atMost.toSeconds() + " s.");
    }

    /** What its client is told if this instance cannot wait any more. */
    ChatException leftAlone() {
        return ChatException.leftAlone(
                "This instance stops and cannot wait for the task " + taskId + ", which goes on.");
    }

    private @Nullable Answer take(Event event) throws InterruptedException, ClientGoneException {
        String of = event.taskId() == null ? event.id() : event.taskId();
        if (event.id().equals(message.id())) {
            taskId = of;
        }
        if (!of.equals(taskId)) {
            return null;
        }
        if (event.type() == StreamType.TEXT && event.payload() instanceof Payload.StreamDelta piece) {
            watcher.saying(piece.callId(), piece.attempt(), piece.delta());
        }
        use(event.payload());
        return switch (event.payload()) {
            case Payload.ReasonDone done -> {
                String reason = done.finishReason();
                finishReason = reason != null && (reason.equals("length") || reason.equals("content_filter"))
                        ? reason
                        : "stop";
                say(done.callId(), done.response());
                yield null;
            }
            case Payload.NeedMoreInfo asked -> {
                say(asked.callId(), asked.response());
                say(null, asked.question());
                yield answer(asked.question());
            }
            case Payload.TaskCompleted completed -> {
                String response = completed.result().response();
                yield answer(response == null ? "" : response);
            }
            case Payload.TaskFailed failed ->
                throw ChatException.failed(failed.code(), "The task " + taskId + " failed: " + failed.error());
            case Payload.TaskCancelled cancelled ->
                throw ChatException.failed("cancelled", "The task " + taskId + " was cancelled: " + cancelled.reason());
            default -> null;
        };
    }

    private void say(@Nullable String callId, @Nullable String text) throws InterruptedException, ClientGoneException {
        if (text != null && !text.isEmpty()) {
            watcher.said(callId, text);
        }
    }

    private Answer answer(String text) {
        return new Answer(taskId, text, finishReason, usage());
    }

    private void use(Payload payload) {
        Payload.Usage used =
                switch (payload) {
                    case Payload.ModelCallOutcome call -> call.usage();
                    case Payload.ToolCallCompleted call -> call.usage();
                    case Payload.ToolCallFailed call -> call.usage();
                    default -> null;
                };
        if (used != null) {
            inputTokens += used.inputTokens();
            outputTokens += used.outputTokens();
            cachedInputTokens += orNone(used.cachedInputTokens());
            reasoningTokens += orNone(used.reasoningTokens());
        }
    }

    private ChatCompletion.Usage usage() {
        return new ChatCompletion.Usage(
                inputTokens,
                outputTokens,
                inputTokens + outputTokens,
                new ChatCompletion.PromptDetails(cachedInputTokens),
                new ChatCompletion.CompletionDetails(reasoningTokens));
    }

    private static long orNone(@Nullable Long number) {
        return number == null ? 0 : number;
    }
}
