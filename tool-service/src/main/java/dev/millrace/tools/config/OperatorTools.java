package dev.millrace.tools.config;

import dev.millrace.http.client.InternalSecret;
import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.ToolPolicies;
import dev.millrace.tools.http.HttpCalls;
import dev.millrace.tools.http.WebSearch;
import dev.millrace.tools.java.JavaTools;
import dev.millrace.tools.openapi.OpenApi;
import dev.millrace.tools.secrets.Secrets;
import dev.millrace.tools.tasks.EventTools;
import dev.millrace.tools.tasks.TaskQueries;
import dev.millrace.tools.tasks.TaskTools;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tools that go only where the operator points: to agent-service, to a search engine, to HTTP APIs. A host that the
 * operator names is let through although it is private, for its own tool and no other.
 */
@Singleton
public class OperatorTools {

    private static final Duration QUERY_DEADLINE = Duration.ofSeconds(10);
    /** An engine's whole answer is read, of which the tool passes on a little. */
    private static final int MAX_SEARCH_BODY = 2_000_000;

    private static final int MAX_DOCUMENT = 10_000_000;
    private static final Logger LOGGER = LoggerFactory.getLogger(OperatorTools.class);

    private final List<CallableTool> tools = new ArrayList<>();
    private final List<GuardedHttp> clients = new ArrayList<>();
    private final TaskQueries queries;

    @Inject
    OperatorTools(ToolsConfig config, Secrets secrets, InternalSecret internal) {
        queries = new TaskQueries(config.agentUrl(), QUERY_DEADLINE, internal);
        tools.addAll(JavaTools.of(new TaskTools(queries)));
        tools.addAll(JavaTools.of(new EventTools(queries)));
        WebSearch.@Nullable Provider provider = Searches.provider(config.webSearch());
        String searchUrl = provider == null ? null : provider.urlFor("x", 1);
        HttpCalls search = new HttpCalls(client(config.http(), searchUrl, MAX_SEARCH_BODY), secrets);
        tools.addAll(JavaTools.of(new WebSearch(search, provider)));
        config.openapi().forEach((name, api) -> tools.addAll(apiTools(config.http(), secrets, api(name, api))));
    }

    private static OpenApi api(String name, ToolsConfig.OpenApi api) {
        try {
            return new OpenApi(
                    name,
                    api.document(),
                    api.baseUrl().orElse(null),
                    api.headers(),
                    api.include().orElse(List.of()),
                    api.approval().map(ToolPolicies::approval).orElse(null));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("millrace.tools.openapi." + name + ": " + e.getMessage(), e);
        }
    }

    /** An API that is of no use is left out: the other tools are not concerned. */
    private List<CallableTool> apiTools(ToolsConfig.Http http, Secrets secrets, OpenApi api) {
        try {
            String text = api.isRemote() ? fetched(http, secrets, api) : Files.readString(Path.of(api.document()));
            HttpCalls calls = new HttpCalls(
                    client(http, named(api), Math.toIntExact(http.maxBodySize().asLongValue())), secrets);
            List<CallableTool> found = api.tools(text, calls);
            LOGGER.atInfo()
                    .addKeyValue("api", api.name())
                    .addKeyValue("tools", found.size())
                    .log("An API's operations are tools");
            return found;
        } catch (IOException | ToolException | IllegalArgumentException e) {
            LOGGER.atError()
                    .addKeyValue("api", api.name())
                    .addKeyValue("document", api.document())
                    .addKeyValue("cause", e.toString())
                    .log("An API has no tools, because its document cannot be used");
            return List.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    /** What the operator wrote, and with it a host that may be private; what only the document says may not be. */
    private static @Nullable String named(OpenApi api) {
        return api.baseUrl() != null ? api.baseUrl() : api.isRemote() ? api.document() : null;
    }

    private String fetched(ToolsConfig.Http http, Secrets secrets, OpenApi api)
            throws ToolException, InterruptedException {
        HttpCalls calls = new HttpCalls(client(http, api.document(), MAX_DOCUMENT), secrets);
        HttpCalls.Fetched answer = calls.call(new HttpCalls.Ask("GET", api.document(), api.headers(), null), null);
        if (answer.status() != 200 || answer.truncated()) {
            throw new IllegalArgumentException("the server answered with status " + answer.status()
                    + (answer.truncated() ? " and more than can be read" : ""));
        }
        return answer.body();
    }

    private GuardedHttp client(ToolsConfig.Http http, @Nullable String url, int maxBody) {
        List<String> allowed = new ArrayList<>(http.allow().orElse(List.of()));
        String host = url == null ? null : URI.create(url).getHost();
        if (host != null) {
            allowed.add(host);
        }
        GuardedHttp client = new GuardedHttp(http.limits(allowed, maxBody));
        clients.add(client);
        return client;
    }

    /** All of them. */
    List<CallableTool> tools() {
        return List.copyOf(tools);
    }

    @PreDestroy
    void close() {
        queries.close();
        try {
            for (GuardedHttp client : clients) {
                client.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
