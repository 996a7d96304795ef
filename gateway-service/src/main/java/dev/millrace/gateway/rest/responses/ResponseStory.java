package dev.millrace.gateway.rest.responses;

import dev.millrace.gateway.rest.responses.ResponseView.Status;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.turns.ChatText;
import dev.millrace.gateway.rest.turns.TurnEnd;
import dev.millrace.gateway.rest.turns.TurnFold;
import dev.millrace.gateway.rest.turns.TurnPart;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A turn in the words of OpenAI's Responses. The number of an event is the step of the turn, shifted by 24 bits, and
 * its place in that step, which for a text is how much of it there is: so it says the same at every instance, in how
 * many pieces a text may come. For one thread.
 */
final class ResponseStory implements TurnFold.Teller {
    private static final String DEFAULT_AGENT = "general";
    private static final int STEP_BITS = 24;
    private static final int LAST = (1 << STEP_BITS) - 1;
    private static final String COMMENTARY_END = "\n\n";

    private final Asked asked;
    private final Sink sink;
    private final List<ResponseItem> output = new ArrayList<>();
    private final Map<String, Integer> calls = new HashMap<>();
    private final ChatText text = new ChatText(this::more);

    private final TurnFold fold;

    private Status status = Status.QUEUED;
    private ResponseView.@Nullable Fault error;
    private ResponseView.@Nullable Reason incomplete;
    private Payload.@Nullable Usage usage;
    private @Nullable OpenMessage open;
    private String taskId;

    /** What is known of a response before the journal tells of it. */
    record Asked(
            Event begin,
            @Nullable String model,
            @Nullable Boolean background,
            @Nullable String previousResponseId,
            JsonObject metadata) {
        /** One that somebody asks for again: what its client wanted of it is not known any more. */
        static Asked before(Event begin) {
            JsonObject metadata =
                    begin.payload() instanceof Payload.MessageReceived message ? message.metadata() : null;
            return new Asked(begin, null, null, null, ResponseRequest.orNone(metadata));
        }

        String id() {
            return ResponseName.of(begin);
        }
    }

    /** Takes what a stream tells. */
    @FunctionalInterface
    interface Sink {
        void send(ResponseEvent event) throws InterruptedException, ClientGoneException;
    }

    /** A message that is being said. */
    private static final class OpenMessage {
        private final long step;
        private final String id;
        private final int index;
        private final StringBuilder sent = new StringBuilder();

        OpenMessage(long step, String id, int index) {
            this.step = step;
            this.id = id;
            this.index = index;
        }
    }

    ResponseStory(Asked asked, Sink sink) {
        this.asked = asked;
        this.sink = sink;
        this.taskId = asked.begin().taskId() == null
                ? asked.begin().id()
                : asked.begin().taskId();
        this.fold = new TurnFold(asked.begin(), this);
    }

    /** What makes the turn of the events of its task. */
    TurnFold fold() {
        return fold;
    }

    @Override
    public void tell(TurnPart part) throws InterruptedException, ClientGoneException {
        if (open != null && open.step != part.step()) {
            breakOff(open);
        }
        switch (part) {
            case TurnPart.Began began -> {
                taskId = began.taskId();
                status = Status.IN_PROGRESS;
                send(new ResponseEvent.OfResponse("response.created", number(began.step(), 0), view()));
                send(new ResponseEvent.OfResponse("response.in_progress", number(began.step(), 1), view()));
            }
            case TurnPart.Words words -> {
                begin(words.step());
                text.live(String.valueOf(words.step()), words.attempt(), words.delta());
            }
            case TurnPart.Withdrawn ignored -> {} // what was sent cannot be taken back: the next attempt is compared
            case TurnPart.Said said -> {
                begin(said.step());
                text.whole(String.valueOf(said.step()), said.text());
                end(said.text(), said.last());
            }
            case TurnPart.ToolBegan began -> callBegan(began);
            case TurnPart.ToolEnded ended -> callEnded(ended);
            case TurnPart.Over over -> over(over);
        }
    }

    private void begin(long step) throws InterruptedException, ClientGoneException {
        if (open == null) {
            OpenMessage message =
                    new OpenMessage(step, "msg_" + step + "_" + asked.begin().id(), output.size());
            ResponseItem item = ResponseItem.Message.begun(message.id);
            open = message;
            output.add(item);
            send(new ResponseEvent.OfItem("response.output_item.added", number(step, 0), message.index, item));
            send(new ResponseEvent.OfPart(
                    "response.content_part.added",
                    number(step, 1),
                    message.id,
                    message.index,
                    0,
                    ResponseItem.Part.of("")));
        }
    }

    /** More of the text of the message that is open. */
    private void more(String more, boolean begins) throws InterruptedException, ClientGoneException {
        OpenMessage message = open;
        if (message == null) {
            throw new IllegalStateException("words of no message");
        }
        String delta = begins && !message.sent.isEmpty() ? COMMENTARY_END + more : more;
        message.sent.append(delta);
        send(new ResponseEvent.Delta(
                "response.output_text.delta",
                number(message.step, 1 + message.sent.length()),
                message.id,
                message.index,
                0,
                delta,
                List.of()));
    }

    private void end(String whole, boolean last) throws InterruptedException, ClientGoneException {
        OpenMessage message = open;
        if (message != null) {
            close(message, ResponseItem.Message.of(message.id, whole, last), whole, LAST);
        }
    }

    /** Its call has failed: there will be no other words in their place. */
    private void breakOff(OpenMessage message) throws InterruptedException, ClientGoneException {
        String sent = message.sent.toString();
        close(message, ResponseItem.Message.brokenOff(message.id, sent), sent, LAST);
    }

    /** Ends with the event at this place of its step. */
    private void close(OpenMessage message, ResponseItem item, String whole, int lastPlace)
            throws InterruptedException, ClientGoneException {
        open = null;
        output.set(message.index, item);
        send(new ResponseEvent.Whole(
                "response.output_text.done",
                number(message.step, lastPlace - 2),
                message.id,
                message.index,
                0,
                whole,
                List.of()));
        send(new ResponseEvent.OfPart(
                "response.content_part.done",
                number(message.step, lastPlace - 1),
                message.id,
                message.index,
                0,
                ResponseItem.Part.of(whole)));
        send(new ResponseEvent.OfItem(
                "response.output_item.done", number(message.step, lastPlace), message.index, item));
    }

    private void callBegan(TurnPart.ToolBegan began) throws InterruptedException, ClientGoneException {
        int index = output.size();
        String arguments = Json.writeText(began.params());
        ResponseItem.McpCall call = ResponseItem.McpCall.begun(began.callId(), began.toolName(), arguments);
        output.add(call);
        calls.put(began.callId(), index);
        send(new ResponseEvent.OfItem("response.output_item.added", number(began.step(), 0), index, call));
        send(new ResponseEvent.OfCall("response.mcp_call.in_progress", number(began.step(), 1), call.id(), index));
        send(new ResponseEvent.Arguments(
                "response.mcp_call_arguments.done", number(began.step(), 2), call.id(), index, arguments));
    }

    private void callEnded(TurnPart.ToolEnded ended) throws InterruptedException, ClientGoneException {
        Integer known = calls.get(ended.callId());
        int index = known == null ? output.size() : known;
        ResponseItem.McpCall begun = known != null && output.get(known) instanceof ResponseItem.McpCall one
                ? one
                : ResponseItem.McpCall.begun(ended.callId(), ended.toolName(), "{}");
        if (known == null) {
            output.add(begun);
            send(new ResponseEvent.OfItem("response.output_item.added", number(ended.step(), 0), index, begun));
        }
        ResponseItem.McpCall call = begun.ended(result(ended), ended.error());
        output.set(index, call);
        send(new ResponseEvent.OfCall(
                ended.error() == null ? "response.mcp_call.completed" : "response.mcp_call.failed",
                number(ended.step(), 1),
                call.id(),
                index));
        send(new ResponseEvent.OfItem("response.output_item.done", number(ended.step(), 2), index, call));
    }

    private static @Nullable String result(TurnPart.ToolEnded ended) {
        if (ended.error() != null) {
            return null;
        }
        return ended.result() instanceof String words ? words : Json.writeText(ended.result());
    }

    private void over(TurnPart.Over over) throws InterruptedException, ClientGoneException {
        usage = over.usage();
        String type = "response.completed";
        status = Status.COMPLETED;
        switch (over.end()) {
            case TurnEnd.Answered answered -> {
                String reason = answered.finishReason();
                if ("length".equals(reason) || "content_filter".equals(reason)) {
                    status = Status.INCOMPLETE;
                    incomplete =
                            new ResponseView.Reason("length".equals(reason) ? "max_output_tokens" : "content_filter");
                    type = "response.incomplete";
                }
            }
            case TurnEnd.Failed failed -> {
                status = Status.FAILED;
                error = new ResponseView.Fault(failed.code(), failed.error());
                type = "response.failed";
            }
            case TurnEnd.NotTaken late -> {
                status = Status.FAILED;
                error = new ResponseView.Fault(TurnEnd.NotTaken.CODE, late.words(taskId));
                type = "response.failed";
            }
            case TurnEnd.Cancelled cancelled -> {
                status = Status.CANCELLED;
                error = new ResponseView.Fault("cancelled", "The task was cancelled: " + cancelled.reason());
                type = "response.failed";
            }
            case TurnEnd.Asked question -> {
                begin(over.step());
                text.whole(String.valueOf(over.step()), question.question());
                OpenMessage message = open;
                if (message != null) {
                    String words = question.question();
                    ResponseItem item = ResponseItem.Message.of(message.id, words, true);
                    close(message, item, words, LAST - 1);
                }
            }
            case TurnEnd.NeedsApproval needs -> {
                int place = 0;
                for (Payload.ApprovalRequested one : needs.calls()) {
                    ResponseItem item = ResponseItem.McpApprovalRequest.of(
                            one.callId(), one.toolName(), Json.writeText(one.params()));
                    int index = output.size();
                    output.add(item);
                    send(new ResponseEvent.OfItem(
                            "response.output_item.added", number(over.step(), place++), index, item));
                    send(new ResponseEvent.OfItem(
                            "response.output_item.done", number(over.step(), place++), index, item));
                }
            }
        }
        send(new ResponseEvent.OfResponse(type, number(over.step(), LAST), view()));
    }

    private static long number(long step, int place) {
        return (step << STEP_BITS) + Math.min(place, LAST);
    }

    private void send(ResponseEvent event) throws InterruptedException, ClientGoneException {
        sink.send(event);
    }

    /** The task, as far as it is known: a message may turn out to be the answer to one that waits. */
    String taskId() {
        return taskId;
    }

    private String model() {
        String agent = fold.agent() == null ? asked.model() : fold.agent();
        return agent == null ? DEFAULT_AGENT : agent;
    }

    /** The response as it stands. */
    ResponseView view() {
        Event begin = asked.begin();
        Payload.Usage used = usage;
        return new ResponseView(
                asked.id(),
                "response",
                begin.timestamp().getEpochSecond(),
                status.word(),
                asked.background(),
                error,
                incomplete,
                null,
                model(),
                List.copyOf(output),
                true,
                asked.previousResponseId(),
                begin.sessionId() == null ? null : new ResponseView.Conversation(begin.sessionId()),
                used == null ? null : ResponseView.Usage.of(used),
                asked.metadata(),
                "auto",
                List.of(),
                null,
                null,
                "disabled",
                new ResponseView.Text(new ResponseView.Format("text")),
                true);
    }
}
