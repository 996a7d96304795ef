package dev.millrace.llm.remote;

import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.DefaultChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelCharge;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.StreamListener;
import java.net.http.HttpClient.Version;
import java.util.Objects;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A model behind a provider's HTTP API. One HTTP request per call, no retries. A request that names a model means one of
 * the provider's.
 *
 * <p>HTTP/1.1 only: with both versions allowed the JDK's client sends {@code Upgrade: h2c}, which trips small servers;
 * and closing a connection is the one way of cancelling that every server understands. Proxies and trusted certificates
 * are the JVM's ({@code https.proxyHost}, {@code javax.net.ssl.trustStore}, …).
 */
public final class RemoteModel implements LanguageModel {

    private final RemoteSettings settings;
    private final Wire wire;
    private final Failures failures;
    private final java.net.http.HttpClient client;

    /** Opens no connection yet. */
    public RemoteModel(RemoteSettings settings) {
        this.settings = settings;
        this.wire = settings.provider().wire();
        this.failures = new Failures(settings);
        this.client = java.net.http.HttpClient.newBuilder()
                .version(Version.HTTP_1_1)
                .connectTimeout(settings.timeouts().connect())
                .executor(Executors.newVirtualThreadPerTaskExecutor())
                .build();
    }

    @Override
    public String name() {
        return settings.model();
    }

    @Override
    public String description() {
        return settings.model() + " at " + settings.baseUrl() + " ("
                + settings.provider().wireName() + ")";
    }

    @Override
    public String providerOf(@Nullable String model) {
        return settings.provider() == Provider.GEMINI
                ? "gcp.gemini"
                : settings.provider().wireName();
    }

    @Override
    public ModelReply chat(ModelRequest request) throws ModelCallException {
        Exchange exchange = exchange(request);
        try {
            return chat(request, exchange);
        } catch (ModelCallException e) {
            throw charged(e, request, exchange);
        }
    }

    private ModelReply chat(ModelRequest request, Exchange exchange) throws ModelCallException {
        ChatResponse response;
        try {
            response = wire.whole(settings, exchange.asBuilder()).chat(converted(request));
        } catch (RuntimeException e) {
            throw failure(exchange, e);
        }
        return reply(request, exchange, response);
    }

    @Override
    public ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
        Exchange exchange = exchange(request);
        try {
            return stream(request, listener, exchange);
        } catch (ModelCallException e) {
            throw charged(e, request, exchange);
        }
    }

    private ModelReply stream(ModelRequest request, StreamListener listener, Exchange exchange)
            throws ModelCallException {
        StreamCollector collector = new StreamCollector(exchange, listener);
        try {
            wire.streaming(settings, exchange.asBuilder()).chat(converted(request), collector);
        } catch (RuntimeException e) {
            throw failure(exchange, e);
        }
        if (Thread.currentThread().isInterrupted() && exchange.failure() == null) {
            throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted while the model was replying");
        }
        if (exchange.failure() != null || collector.error() != null) {
            throw failure(exchange, collector.error());
        }
        if (collector.response() == null || !exchange.notes().complete) {
            refuse(exchange.notes());
            throw failures.cutShort();
        }
        return reply(request, exchange, collector.response());
    }

    @Override
    public int contextWindow(@Nullable String model) {
        Integer configured = settings.contextWindow();
        return configured == null
                ? ContextWindows.of(settings.provider(), Objects.requireNonNullElse(model, settings.model()))
                : configured;
    }

    private Exchange exchange(ModelRequest request) {
        return new Exchange(client, settings, wire, failures, request);
    }

    private ModelCallException failure(Exchange exchange, @Nullable Throwable thrown) throws ModelCallException {
        if (exchange.failure() != null) {
            return exchange.failure();
        }
        refuse(exchange.notes());
        return failures.unreadable(thrown);
    }

    private ModelReply reply(ModelRequest request, Exchange exchange, ChatResponse response) throws ModelCallException {
        Notes notes = exchange.notes();
        if (response.aiMessage() == null) {
            refuse(notes);
            throw failures.unreadable(null);
        }
        ModelReply reply = Messages.toReply(request, answering(request, notes), response)
                .using(notes.usage())
                .beforeNext(notes.nextRequestIn);
        if (!reply.toolCalls().isEmpty()) {
            reply = reply.continuedBy(Continuation.write(settings, request, notes.again));
        }
        boolean nothing = reply.text() == null && reply.toolCalls().isEmpty();
        if (nothing || notes.refusal != null) {
            refuse(notes);
        }
        if (nothing && reply.finishReason() == FinishReason.OTHER) {
            throw failures.unreadable(null);
        }
        return reply;
    }

    /** The model's name as the provider said it, or else as we did. */
    private String answering(ModelRequest request, Notes notes) {
        String asked = Objects.requireNonNullElse(request.model(), settings.model());
        return Objects.requireNonNullElse(notes.model, asked);
    }

    /** A failure with what the provider counts for it nevertheless, if it said so. */
    private ModelCallException charged(ModelCallException failure, ModelRequest request, Exchange exchange) {
        Notes notes = exchange.notes();
        return notes.usage().isNone()
                ? failure
                : failure.charged(new ModelCharge(answering(request, notes), notes.usage()));
    }

    private void refuse(Notes notes) throws ModelCallException {
        if (notes.refusal != null) {
            throw failures.refusal(notes.refusal);
        }
        if (notes.filtered != null) {
            throw failures.filtered(notes.filtered);
        }
    }

    private ChatRequest converted(ModelRequest request) {
        DefaultChatRequestParameters.Builder<?> parameters = ChatRequestParameters.builder();
        parameters.modelName(Objects.requireNonNullElse(request.model(), settings.model()));
        if (request.temperature() != null) {
            parameters.temperature(request.temperature());
        }
        Integer limit = request.maxOutputTokens() == null ? settings.maxOutputTokens() : request.maxOutputTokens();
        if (limit != null) {
            parameters.maxOutputTokens(limit);
        }
        return ChatRequest.builder()
                .messages(Messages.toLangChain(request.messages()))
                .parameters(parameters.build())
                .build();
    }
}
