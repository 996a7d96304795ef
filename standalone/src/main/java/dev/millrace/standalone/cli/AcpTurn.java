package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Entry;
import dev.millrace.api.Task;
import dev.millrace.client.FeedEvent;
import dev.millrace.client.MillraceException;
import dev.millrace.client.RequestRefusedException;
import dev.millrace.client.Route;
import dev.millrace.client.TaskFeed;
import dev.millrace.client.TaskHandle;
import dev.millrace.client.UnreachableException;
import dev.millrace.client.Watch;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import dev.millrace.standalone.cli.JsonRpcPeer.Asked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Follows a task for an editor until it rests: tells what happens, has its user decide and answer, and cancels.
 * Followed by one thread; {@link #cancel} and {@link #close} are for any.
 */
final class AcpTurn {

    private static final Duration TICK = Duration.ofMillis(200);
    /** How long something is sent again that nobody may have received. */
    private static final Duration PERSISTENCE = Duration.ofSeconds(5);
    /** How long the journal has to tell where a message went. */
    private static final Duration TELLING = Duration.ofSeconds(20);

    private static final Duration PAUSE = Duration.ofMillis(100);

    private static final String ALLOW = "allow";
    private static final String REJECT = "reject";

    private final AcpAgent agent;
    private final AcpAgent.Conversation conversation;
    private final AcpStory story;
    private final Map<String, Asked> permissions = new HashMap<>();
    /** Who was asked already, so that nobody is asked twice about one call. */
    private final Map<String, Boolean> asked = new ConcurrentHashMap<>();

    private @Nullable Asked form;
    private volatile boolean declined;
    private volatile boolean cancelled;
    private volatile boolean closed;
    private volatile @Nullable String taskId;
    private volatile @Nullable TaskFeed open;

    private record ToolCallRef(String toolCallId, String title, String status, JsonObject rawInput) {}

    private record Option(String optionId, String name, String kind) {}

    private record Permission(String sessionId, ToolCallRef toolCall, List<Option> options) {}

    private record Field(String type, String title) {}

    private record Form(String type, Map<String, Field> properties, List<String> required) {}

    private record Elicitation(String mode, String sessionId, String message, Form requestedSchema) {}

    /**
     * How it stands.
     *
     * @param cursor the place after which it goes on
     */
    record Standing(
            String taskId,
            AcpStory.@Nullable Rest rest,
            @Nullable String cursor) {}

    /** Follows nothing yet. */
    AcpTurn(AcpAgent agent, AcpAgent.Conversation conversation, AcpStory story) {
        this.agent = agent;
        this.conversation = conversation;
        this.story = story;
    }

    /** Whether its user has cancelled it. */
    boolean isCancelled() {
        return cancelled;
    }

    /** Whether the editor has gone. */
    boolean isClosed() {
        return closed;
    }

    /** The task that it is about; {@code null} = not known yet. */
    @Nullable
    String taskId() {
        return taskId;
    }

    /**
     * Gives a task of the conversation, or the answer to what another one asks, and follows what comes of it.
     *
     * @param id of the message: the same one again is no other
     */
    Standing prompt(String id, String text) throws InterruptedException {
        Standing question = conversation.question();
        String sender = agent.sender();
        TaskHandle unused =
                persistently(() -> agent.millrace().session(conversation.id()).start(text, start -> {
                    start.id(id).agent(conversation.agent()).metadata(Map.of("cwd", conversation.cwd()));
                    if (sender != null) {
                        start.sender(sender);
                    }
                }));
        if (question == null) {
            taskId = id;
            try {
                return follow(new Standing(id, null, null));
            } catch (RequestRefusedException e) {
                if (e.status() != 404) {
                    throw e;
                }
                // somebody else has let a task ask something meanwhile
            }
        }
        String to = whereItWent(id);
        return follow(
                question != null && question.taskId().equals(to)
                        ? new Standing(to, null, question.cursor())
                        : new Standing(to, null, null));
    }

    /** Takes what has happened so far, and says how it stands. */
    Standing past(String task) {
        taskId = task;
        String[] last = new String[1];
        agent.millrace()
                .http()
                .items(
                        new Route("/v1/tasks")
                                .at(task)
                                .at("events")
                                .with("namespace", agent.millrace().namespace()),
                        "after",
                        "events")
                .forEach(event -> {
                    story.take(event);
                    last[0] = event.path("cursor").textValue();
                });
        return new Standing(task, story.rest(), last[0]);
    }

    /** Follows a task from there until it rests. */
    Standing follow(Standing from) throws InterruptedException {
        taskId = from.taskId();
        String cursor = from.cursor();
        try (TaskFeed feed =
                agent.millrace().task(from.taskId()).events(Watch.after(cursor).withText())) {
            open = feed;
            if (cancelled) {
                sendCancel(from.taskId());
            }
            while (!closed && !feed.isOver()) {
                askForDecisions();
                Optional<FeedEvent> event = feed.next(TICK);
                if (event.isPresent()) {
                    story.take(event.get().json());
                    cursor = event.get().cursor();
                }
                AcpStory.Rest rest = story.rest();
                if (rest == null) {
                    withdrawForm();
                } else if (!(rest instanceof AcpStory.Rest.Asked question) || declined || !hasForm(question)) {
                    break;
                }
            }
        } finally {
            open = null;
            withdrawForm();
            permissions.values().forEach(agent.peer()::withdraw);
            permissions.clear();
        }
        return new Standing(from.taskId(), story.rest(), cursor);
    }

    /** Ends the task; the turn ends with it. */
    void cancel() {
        if (!cancelled) {
            cancelled = true;
            String task = taskId;
            if (task != null) {
                agent.peer().threads().execute(() -> sendCancel(task));
            }
        }
    }

    /** Stops following; the task goes on. */
    void close() {
        closed = true;
        TaskFeed feed = open;
        if (feed != null) {
            feed.close();
        }
    }

    /** Waits until the journal says which task a message has gone to. */
    private String whereItWent(String id) throws InterruptedException {
        long end = System.nanoTime() + TELLING.toNanos();
        while (true) {
            try {
                List<Entry> chain = agent.millrace().events().chain(id);
                Entry message = chain.get(chain.size() - 1);
                return message.taskId() == null ? id : message.taskId();
            } catch (RequestRefusedException | UnreachableException e) {
                if (closed || System.nanoTime() - end > 0) {
                    throw e;
                }
            }
            Thread.sleep(PAUSE);
        }
    }

    /** As long as nobody answers, sends it again: for what changes nothing the second time. */
    private <T> T persistently(Supplier<T> request) throws InterruptedException {
        long end = System.nanoTime() + PERSISTENCE.toNanos();
        while (true) {
            try {
                return request.get();
            } catch (UnreachableException e) {
                if (closed || System.nanoTime() - end > 0) {
                    throw e;
                }
            }
            Thread.sleep(PAUSE);
        }
    }

    /** Cuts off what is said, which the conversation keeps; what has not begun yet is cancelled alone. */
    private void sendCancel(String task) {
        boolean interrupted = false;
        try {
            interrupted = agent.millrace()
                    .session(conversation.id())
                    .interrupt()
                    .taskIds()
                    .contains(task);
        } catch (MillraceException e) {
            agent.log("the conversation is not interrupted: " + e.getMessage());
        }
        if (interrupted) {
            return;
        }
        try {
            Task.ControlAccepted unused = persistently(() -> agent.millrace()
                    .http()
                    .post(
                            new Route("/v1/tasks")
                                    .at(task)
                                    .at("cancel")
                                    .with("namespace", agent.millrace().namespace()),
                            new Task.CancelRequest("cancelled in the editor", conversation.id()),
                            Task.ControlAccepted.class));
        } catch (MillraceException e) {
            agent.log("task " + task + " is not cancelled: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Asks about calls that are new, and does not want to know any more about those that somebody has decided on. */
    private void askForDecisions() {
        for (String call : List.copyOf(permissions.keySet())) {
            if (!story.undecided().containsKey(call)) {
                Asked gone = permissions.remove(call);
                if (gone != null) {
                    agent.peer().withdraw(gone);
                }
            }
        }
        if (cancelled) {
            return;
        }
        for (Payload.ApprovalRequested call : new ArrayList<>(story.undecided().values())) {
            if (asked.putIfAbsent(call.callId(), true) == null) {
                Asked request = agent.peer().ask("session/request_permission", permission(call));
                permissions.put(call.callId(), request);
                var unused = request.answer()
                        .whenCompleteAsync(
                                (answer, failure) -> decide(call, answer, failure),
                                agent.peer().threads());
            }
        }
    }

    private Permission permission(Payload.ApprovalRequested call) {
        String why = call.reason() == null ? "" : " (" + call.reason() + ")";
        return new Permission(
                conversation.id(),
                new ToolCallRef(call.callId(), call.toolName() + why, "pending", call.params()),
                List.of(new Option(ALLOW, "Allow", "allow_once"), new Option(REJECT, "Reject", "reject_once")));
    }

    private void decide(Payload.ApprovalRequested call, @Nullable JsonNode answer, @Nullable Throwable failure) {
        if (cancelled || closed) {
            return;
        }
        String outcome =
                answer == null ? "" : answer.path("outcome").path("outcome").asText();
        String option =
                answer == null ? "" : answer.path("outcome").path("optionId").asText();
        if (outcome.equals("cancelled")) {
            cancel();
            return;
        }
        boolean decided = outcome.equals("selected") && (option.equals(ALLOW) || option.equals(REJECT));
        try {
            if (decided) {
                var approvals = agent.millrace().approvals();
                Task.ControlAccepted unused = persistently(() -> option.equals(ALLOW)
                        ? approvals.approve(call.callId(), agent.person())
                        : approvals.reject(call.callId(), agent.person(), null));
                return;
            }
            agent.log("no decision on call " + call.callId() + ": "
                    + (failure == null ? "expected allow or reject, found " + answer : failure.getMessage()));
        } catch (RequestRefusedException e) {
            agent.log("the decision on call " + call.callId() + " is not taken: " + e.getMessage());
            if (e.status() == 409) {
                return; // somebody else was quicker
            }
        } catch (MillraceException e) {
            agent.log("the decision on call " + call.callId() + " did not arrive: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        story.note("`" + call.toolName() + "` waits for a decision: " + agent.hint("approve", call.callId())
                + "   or   " + agent.hint("reject", call.callId()));
    }

    /** Whether the editor's user has a form for the answer. */
    private boolean hasForm(AcpStory.Rest.Asked question) {
        if (!agent.hasForms() || cancelled) {
            return false;
        }
        if (form == null) {
            Elicitation wanted = new Elicitation(
                    "form",
                    conversation.id(),
                    question.question(),
                    new Form("object", Map.of("answer", new Field("string", "Answer")), List.of("answer")));
            form = agent.peer().ask("elicitation/create", wanted);
            var unused = form.answer()
                    .whenCompleteAsync(
                            (answer, failure) -> filled(answer), agent.peer().threads());
        }
        return true;
    }

    private void filled(@Nullable JsonNode answer) {
        String text = answer == null || !answer.path("action").asText().equals("accept")
                ? ""
                : answer.path("content").path("answer").asText();
        String task = taskId;
        if (text.isBlank() || task == null) {
            declined = true;
            return;
        }
        try {
            Task.ControlAccepted unused = agent.millrace().task(task).answer(text);
        } catch (MillraceException e) {
            agent.log("the answer to task " + task + " is not taken: " + e.getMessage());
            declined = true;
        }
    }

    private void withdrawForm() {
        if (form != null) {
            agent.peer().withdraw(form);
            form = null;
        }
    }
}
