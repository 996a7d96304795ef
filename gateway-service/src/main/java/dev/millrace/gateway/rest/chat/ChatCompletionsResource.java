package dev.millrace.gateway.rest.chat;

import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.FactListener;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.requests.Ttl;
import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.streams.OpenStreams;
import dev.millrace.gateway.rest.streams.SsePump.Outlet;
import dev.millrace.gateway.rest.tasks.SentEvent;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.gateway.rest.turns.ChatText;
import dev.millrace.gateway.rest.turns.TurnInputs;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An agent as if it were a model of OpenAI's: a request is a task, and its answer is the answer. docs/openai.md. */
@Path("/v1/chat/completions")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "OpenAI", description = "Agents as if they were models, for any client of OpenAI's API.")
public class ChatCompletionsResource {

    private static final Logger LOGGER = LoggerFactory.getLogger(ChatCompletionsResource.class);
    private static final String TASK_ID = "X-Task-Id";
    /** What OpenAI's clients end a stream at. */
    private static final String DONE = "[DONE]";

    private final TaskIntake intake;
    private final EventStreams streams;
    private final OpenStreams open;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    ChatCompletionsResource(
            TaskIntake intake, EventStreams streams, OpenStreams open, Access access, GatewayConfig config) {
        this.access = access;
        this.intake = intake;
        this.streams = streams;
        this.open = open;
        this.config = config;
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Consumes(MediaType.WILDCARD) // another one is refused in the shape of OpenAI's errors
    @Operation(
            summary = "Ask an agent, as OpenAI's clients ask a model",
            description =
                    "model is the name of an agent. The agent is shown the whole conversation that the client sends."
                            + " The task is cancelled if the client goes before the answer comes. With stream the answer comes as"
                            + " server-sent events. Errors have OpenAI's shape.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = ChatRequest.Body.class)))
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = ChatCompletion.Whole.class)))
    @APIResponse(
            responseCode = "400",
            description = "A field is wrong, or asks for what cannot be had; param names it.")
    @APIResponse(responseCode = "404", description = "model_not_found: there is no such agent")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "500", description = "The task failed; code says why.")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(
            responseCode = "503",
            description =
                    "broker_unavailable, shutting_down, too_many_bodies, too_many_streams: try again, unless the header"
                            + " x-should-retry says false: then the task goes on, or may have begun")
    @APIResponse(responseCode = "504", description = "timeout: the task took too long and is cancelled")
    public Response complete(
            InputStream body,
            @Parameter(description = "The conversation; goes before the field user.")
                    @HeaderParam("X-Session-Id")
                    @Nullable
                    String sessionId,
            @Parameter(description = "The tenant. Absent = default.") @HeaderParam("X-Namespace") @Nullable
                    String namespace,
            @Parameter(description = Ttl.DESCRIPTION) @HeaderParam(Ttl.HEADER) @Nullable String ttl,
            @Parameter(hidden = true) @HeaderParam("traceparent") @Nullable String traceparent,
            @Parameter(hidden = true) @HeaderParam("tracestate") @Nullable String tracestate,
            @Context HttpHeaders headers,
            @Context HttpServerRequest http)
            throws IOException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        BodyReader.requireJson(headers);
        ChatRequest.Origin origin = new ChatRequest.Origin(
                Parameters.given(sessionId),
                access.namespace(Parameters.given(namespace)),
                Ttl.expiry(Instant.now(), ttl),
                traceparent,
                tracestate);
        Bodies.Body read = intake.read(body, config.openai().maxBodySize().asLongValue());
        boolean handedOver = false;
        try {
            Chat chat = chat(read, origin);
            if (!chat.stream()) {
                return whole(chat, read, http.response());
            }
            Response pieces = pieces(chat, read, http);
            handedOver = true;
            return pieces;
        } finally {
            if (!handedOver) {
                read.close();
            }
        }
    }

    /** A message that is not yet sent, and how its answer is wanted. */
    private record Chat(SentEvent message, ChatCompletion completion, boolean stream, boolean includeUsage) {}

    private Chat chat(Bodies.Body read, ChatRequest.Origin origin) throws InterruptedException {
        ChatRequest request = ChatRequest.of(read.bytes());
        Instant now = Instant.now();
        Event message = access.stamped(request.event(origin, now));
        intake.requireValid(message);
        intake.requireAgent(request.model(), message.namespace());
        return new Chat(
                new SentEvent(message),
                new ChatCompletion("chatcmpl-" + message.id(), now.getEpochSecond(), request.model()),
                request.stream(),
                request.includeUsage());
    }

    private Response whole(Chat chat, Bodies.Body read, HttpServerResponse response)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException {
        ChatRun run = new ChatRun(chat.message().outline(), config.openai().timeout(), new Patience(response));
        ChatRun.Answer answer = answer(run, chat.message(), read, false);
        return answer == null
                ? Response.noContent().build() // nobody reads it
                : Response.ok(Json.writeText(chat.completion().whole(answer)))
                        .header(TASK_ID, answer.taskId())
                        .build();
    }

    private Response pieces(Chat chat, Bodies.Body read, HttpServerRequest http) {
        return Response.ok(
                        open.body(outlet -> stream(outlet, http.response(), chat, read), http, read::close),
                        MediaType.SERVER_SENT_EVENTS_TYPE)
                .header(TASK_ID, chat.message().outline().id())
                .header("Cache-Control", "no-store")
                .header("X-Accel-Buffering", "no")
                .build();
    }

    private void stream(Outlet outlet, HttpServerResponse response, Chat chat, Bodies.Body read)
            throws InterruptedException, ClientGoneException {
        ChatCompletion completion = chat.completion();
        try {
            send(outlet, completion.begin());
            ChatRun run = new ChatRun(
                    chat.message().outline(),
                    config.openai().timeout(),
                    new Pieces(outlet, completion, new Patience(response)));
            ChatRun.Answer answer = answer(run, chat.message(), read, true);
            if (answer == null) {
                return;
            }
            send(outlet, completion.end(answer.finishReason()));
            if (chat.includeUsage()) {
                send(outlet, completion.usage(answer));
            }
            outlet.data(DONE);
        } catch (ChatException e) {
            send(outlet, e.body());
        } catch (BrokerUnavailableException | EventTooLargeException e) {
            LOGGER.atWarn().setCause(e).log("A message of a chat was not stored");
            send(
                    outlet,
                    ChatException.refused(503, "broker_unavailable", "The message could not be stored.")
                            .body());
        }
    }

    private static void send(Outlet outlet, Object json) throws InterruptedException, ClientGoneException {
        outlet.data(Json.writeText(json));
    }

    /**
     * The answer, once it is there; {@code null} if nobody waits for it any more.
     *
     * @param live whether the watcher hears what models say while they say it
     */
    private ChatRun.@Nullable Answer answer(ChatRun run, SentEvent message, Bodies.Body read, boolean live)
            throws BrokerUnavailableException, EventTooLargeException, InterruptedException {
        Set<Integer> partition = Set.of(streams.partitionOf(message.outline().sessionKey()));
        try (FactListener listener =
                streams.listen(streams.now(partition, live, config.produceTimeout()), run.filter())) {
            send(message);
            read.close(); // what is waited for now needs none of it
            return run.await(listener);
        } catch (ClientGoneException e) {
            cancel(run, message.outline(), "its client is gone");
            return null;
        } catch (InterruptedException e) {
            if (live) {
                // nothing but a connection that is cut interrupts a stream
                cancel(run, message.outline(), "its client is gone");
                return null;
            }
            if (message.isStored()) {
                throw run.leftAlone();
            }
            throw e;
        } catch (ChatException e) {
            if (e.isTimeout()) {
                cancel(run, message.outline(), "its client was told that it took too long");
            }
            throw e;
        }
    }

    private void send(SentEvent message) throws EventTooLargeException {
        try {
            message.send(intake);
        } catch (BrokerUnavailableException e) {
            throw ChatException.uncertain(e);
        }
    }

    /** Cancels the task; that it could not be is for the log. */
    private void cancel(ChatRun run, Event message, String reason) {
        try {
            intake.accept(List.of(TurnInputs.cancel(message, run.taskId(), reason)));
        } catch (BrokerUnavailableException | EventTooLargeException e) {
            LOGGER.atWarn().setCause(e).addKeyValue("taskId", run.taskId()).log("A task could not be cancelled");
        }
    }

    /** Notices that the client is gone. */
    private record Patience(HttpServerResponse response) implements ChatRun.Watcher {

        @Override
        public void saying(String callId, long attempt, String delta) {}

        @Override
        public void said(@Nullable String callId, String text) {}

        @Override
        public void alive() throws ClientGoneException {
            if (response.closed()) {
                throw new ClientGoneException();
            }
        }
    }

    /** Sends on what the agent says; what it says between its tool calls stands apart. */
    private static final class Pieces implements ChatRun.Watcher {

        private final Outlet outlet;
        private final ChatCompletion completion;
        private final Patience patience;
        private final ChatText text = new ChatText(this::send);
        private boolean spoken;

        Pieces(Outlet outlet, ChatCompletion completion, Patience patience) {
            this.outlet = outlet;
            this.completion = completion;
            this.patience = patience;
        }

        @Override
        public void saying(String callId, long attempt, String delta) throws ClientGoneException, InterruptedException {
            text.live(callId, attempt, delta);
        }

        @Override
        public void said(@Nullable String callId, String whole) throws ClientGoneException, InterruptedException {
            text.whole(callId, whole);
        }

        private void send(String more, boolean begins) throws ClientGoneException, InterruptedException {
            ChatCompletionsResource.send(outlet, completion.delta(begins && spoken ? "\n\n" + more : more));
            spoken = true;
        }

        @Override
        public void alive() throws ClientGoneException, InterruptedException {
            patience.alive();
            outlet.heartbeat();
        }
    }

    @ServerExceptionMapper
    Response refused(ChatException e) {
        return e.response();
    }

    @ServerExceptionMapper
    Response refused(ProblemException e) {
        return ChatException.of(e).response();
    }

    @ServerExceptionMapper
    Response unavailable(BrokerUnavailableException e) {
        return ChatException.of(e).response();
    }

    @ServerExceptionMapper
    Response tooLarge(EventTooLargeException e) {
        return ChatException.of(e).response();
    }

    @ServerExceptionMapper
    Response interrupted(InterruptedException e) {
        return ChatException.stopping().response();
    }
}
