package dev.millrace.gateway.rest.responses;

import dev.millrace.api.Task;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.chat.ChatException;
import dev.millrace.gateway.rest.responses.ResponseRequest.Input;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.turns.TurnFeed;
import dev.millrace.gateway.rest.turns.TurnFold;
import dev.millrace.gateway.rest.turns.TurnInputs;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes the events by which requests for responses become turns of tasks. */
@Singleton
class ResponseTurns {
    /** Stands for the words of a message that has only pictures. */
    private static final String NO_WORDS = "[image]";

    /** How many items of other responses may be named in one request. */
    private static final int MAX_REFERENCES = 100;

    private static final Pattern MESSAGE_ID = Pattern.compile("msg_(\\d{1,9})_(.{1,200})");

    private final TurnFeed turns;
    private final TurnInputs inputs;
    private final Access access;

    @Inject
    ResponseTurns(TurnFeed turns, TurnInputs inputs, Access access) {
        this.turns = turns;
        this.inputs = inputs;
        this.access = access;
    }

    /** Where a request comes from. */
    record Origin(
            String namespace,
            @Nullable String session,
            @Nullable String key,
            @Nullable Instant expiry,
            @Nullable String traceparent,
            @Nullable String tracestate) {}

    /** The event that a turn begins with, by its id. */
    Event begin(String namespace, String name) throws QueryUnavailableException, InterruptedException {
        return turns.event(new TurnFeed.Name(namespace, ResponseName.eventId(name)))
                .orElseThrow(() -> ResponseName.unknown(name));
    }

    /**
     * The events that have to be sent; the turn begins with the last one.
     *
     * @throws ChatException if the request cannot be done
     */
    List<Event> events(ResponseRequest request, Origin origin) throws QueryUnavailableException, InterruptedException {
        List<Input.Decision> decisions = request.decisions();
        try {
            List<Event> events = decisions.isEmpty() ? List.of(message(request, origin)) : decided(decisions, origin);
            return events.stream().map(access::stamped).toList();
        } catch (IllegalArgumentException e) {
            throw ChatException.refused(400, "invalid_value", String.valueOf(e.getMessage()));
        }
    }

    private Event message(ResponseRequest request, Origin origin)
            throws QueryUnavailableException, InterruptedException {
        Input.Words question = request.question();
        String previous = request.previous();
        if (previous == null) {
            return received(request, origin, question, request.conversation());
        }
        Event before = begin(origin.namespace(), previous);
        Task task = inputs.task(origin.namespace(), TurnFeed.taskOf(before));
        if (task.state().equals("completed") && task.sessionId() != null) {
            return received(request, origin, question, task.sessionId());
        }
        if (!question.images().isEmpty()) {
            throw ChatException.unsupported(question.where() + ".content", "expected words only, since a task goes on");
        }
        return traced(inputs.goOn(task, withInstructions(request, question.text())), origin);
    }

    private static Event traced(Event.Builder event, Origin origin) {
        return event.traceparent(origin.traceparent())
                .tracestate(origin.tracestate())
                .expiry(origin.expiry())
                .build();
    }

    private Event received(ResponseRequest request, Origin origin, Input.Words question, @Nullable String conversation)
            throws QueryUnavailableException, InterruptedException {
        String session = conversation == null ? origin.session() : conversation;
        List<Payload.Message> history = history(request, origin.namespace());
        boolean goesOn = session != null && history.isEmpty();
        if (!goesOn && request.instructions() != null) {
            history.addFirst(new Payload.Message("system", request.instructions(), List.of()));
        }
        String words = question.text().isBlank() ? NO_WORDS : question.text();
        String id = origin.key() == null ? Ids.random() : origin.key();
        Event.Builder event = TurnInputs.root(id, KnownEventType.MESSAGE_RECEIVED, origin.namespace())
                .sessionId(session)
                .payload(new Payload.MessageReceived(
                        goesOn ? withInstructions(request, words) : words,
                        null,
                        question.images(),
                        history,
                        request.model(),
                        request.metadata().isEmpty() ? null : request.metadata(),
                        null,
                        null,
                        null));
        return traced(event, origin);
    }

    /** What a conversation goes on with: its history is known, and the client's instructions are not part of it. */
    private static String withInstructions(ResponseRequest request, String words) {
        String instructions = request.instructions();
        return instructions == null ? words : "<system_message>" + instructions + "</system_message>\n\n" + words;
    }

    private List<Payload.Message> history(ResponseRequest request, String namespace)
            throws QueryUnavailableException, InterruptedException {
        List<Payload.Message> history = new ArrayList<>();
        int references = 0;
        for (Input one : request.input().subList(0, request.input().size() - 1)) {
            switch (one) {
                case Input.Words words ->
                    history.add(new Payload.Message(
                            words.role(), words.text().isBlank() ? NO_WORDS : words.text(), words.images()));
                case Input.Reference reference -> {
                    if (++references > MAX_REFERENCES) {
                        throw ChatException.invalid(
                                "array_above_max_length",
                                "input",
                                "expected at most " + MAX_REFERENCES + " references, found more");
                    }
                    String said = said(namespace, reference.itemId());
                    if (said != null) {
                        history.add(new Payload.Message("assistant", said, List.of()));
                    }
                }
                case Input.Decision ignored -> {} // of an earlier turn
            }
        }
        return history;
    }

    /** What was said in an item of another response; {@code null} = it was no message. */
    private @Nullable String said(String namespace, String itemId)
            throws QueryUnavailableException, InterruptedException {
        Matcher name = MESSAGE_ID.matcher(itemId);
        if (!name.matches()) {
            return null;
        }
        Event begin = turns.event(new TurnFeed.Name(namespace, name.group(2)))
                .orElseThrow(() -> ChatException.refused(404, "item_not_found", "There is no item " + itemId + "."));
        return view(begin).output().stream()
                .filter(item -> item.id().equals(itemId))
                .filter(ResponseItem.Message.class::isInstance)
                .map(item -> ((ResponseItem.Message) item).content().getFirst().text())
                .findFirst()
                .orElse(null);
    }

    private void look(Event begin, TurnFold fold) throws QueryUnavailableException, InterruptedException {
        try {
            turns.look(begin, fold);
        } catch (ClientGoneException e) {
            throw new IllegalStateException("nobody is told", e);
        }
    }

    /** The response as far as the journal has it. */
    ResponseView view(Event begin) throws QueryUnavailableException, InterruptedException {
        ResponseStory story = new ResponseStory(ResponseStory.Asked.before(begin), event -> {});
        look(begin, story.fold());
        return story.view();
    }

    private List<Event> decided(List<Input.Decision> decisions, Origin origin)
            throws QueryUnavailableException, InterruptedException {
        List<TurnInputs.Decision> all = decisions.stream()
                .map(one -> new TurnInputs.Decision(one.callId(), one.approve(), one.reason()))
                .toList();
        return inputs.decided(origin.namespace(), all).stream()
                .map(event -> traced(event, origin))
                .toList();
    }
}
