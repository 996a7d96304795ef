package dev.millrace.llm.remote;

import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.StreamListener;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A model behind a provider's HTTP API. One HTTP request per call, no retries. A request that names a model means one
 * of the provider's.
 *
 * <p>HTTP/1.1 only: with both versions allowed the JDK's client sends {@code Upgrade: h2c}, which trips small servers;
 * and closing a connection is the one way of cancelling that every server understands. Proxies and trusted certificates
 * are the JVM's ({@code https.proxyHost}, {@code javax.net.ssl.trustStore}, …).
 */
public final class RemoteModel implements LanguageModel {

    private final RemoteSettings settings;
    private final Wire wire;
    private final ProviderFailures failures;
    private final HttpClient client;

    /** Opens no connection yet. */
    public RemoteModel(RemoteSettings settings) {
        this.settings = settings;
        this.wire = settings.provider().wire();
        this.failures = new ProviderFailures(settings);
        this.client = HttpClient.newBuilder()
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
        return ask(request, null);
    }

    @Override
    public ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
        return ask(request, listener);
    }

    private ModelReply ask(ModelRequest request, @Nullable StreamListener listener) throws ModelCallException {
        Question question = new Question(request, settings);
        Exchange exchange = new Exchange(client, settings, failures, listener);
        ReplyDraft draft = new ReplyDraft(question, exchange::deliver);
        try {
            HttpHeaders headers = exchange.send(
                    http(question, listener != null), wire.streamsLines(), json -> wire.read(json, draft));
            if (listener != null) {
                draft.endOfStream(failures);
            }
            return draft.reply(failures, RateHeaders.nextRequestIn(headers, Instant.now()));
        } catch (ModelCallException e) {
            throw draft.charged(e);
        }
    }

    private HttpRequest http(Question question, boolean streamed) {
        String base = settings.baseUrl().toString();
        URI url = URI.create((base.endsWith("/") ? base.substring(0, base.length() - 1) : base)
                + wire.path(question.model(), streamed));
        HttpRequest.Builder http = HttpRequest.newBuilder(url)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(WireJson.write(wire.body(question, streamed))));
        wire.headers(settings.apiKey() == null ? null : settings.apiKey().value())
                .forEach(http::header);
        return http.build();
    }

    @Override
    public int contextWindow(@Nullable String model) {
        Integer configured = settings.contextWindow();
        return configured == null
                ? ContextWindows.of(settings.provider(), Objects.requireNonNullElse(model, settings.model()))
                : configured;
    }
}
