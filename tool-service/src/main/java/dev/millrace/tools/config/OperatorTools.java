package dev.millrace.tools.config;

import dev.millrace.tools.GetEnv;
import dev.millrace.tools.Tool;
import dev.millrace.tools.http.GuardedHttp;
import dev.millrace.tools.http.HttpCalls;
import dev.millrace.tools.http.WebSearch;
import dev.millrace.tools.secrets.Secrets;
import dev.millrace.tools.tasks.TaskList;
import dev.millrace.tools.tasks.TaskQueries;
import dev.millrace.tools.tasks.TaskReplay;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tools that go only where the operator points: to agent-service, to a search engine. A host that the operator
 * names is let through although it is private, for its own tool and no other.
 */
@Singleton
public class OperatorTools {

    private static final Duration QUERY_DEADLINE = Duration.ofSeconds(10);
    /** An engine's whole answer is read, of which the tool passes on a little. */
    private static final int MAX_SEARCH_BODY = 2_000_000;

    private final List<Tool> tools = new ArrayList<>();
    private final List<GuardedHttp> clients = new ArrayList<>();
    private final TaskQueries queries;

    @Inject
    OperatorTools(ToolsConfig config, Secrets secrets) {
        queries = new TaskQueries(config.agentUrl(), QUERY_DEADLINE);
        tools.add(new TaskList(queries));
        tools.add(new TaskReplay(queries));
        tools.add(new GetEnv(config.env().allow().orElse(List.of()), System::getenv));
        WebSearch.@Nullable Provider provider = Searches.provider(config.webSearch());
        String searchUrl = provider == null ? null : provider.urlFor("x", 1);
        tools.add(new WebSearch(new HttpCalls(client(config.http(), searchUrl, MAX_SEARCH_BODY), secrets), provider));
    }

    private GuardedHttp client(ToolsConfig.Http http, @Nullable String url, int maxBody) {
        List<String> allowed = new ArrayList<>(http.allow().orElse(List.of()));
        String host = url == null ? null : URI.create(url).getHost();
        if (host != null) {
            allowed.add(host);
        }
        GuardedHttp client = new GuardedHttp(new GuardedHttp.Limits(
                allowed,
                Math.toIntExact(http.connectTimeout().toMillis()),
                Math.toIntExact(http.responseTimeout().toMillis()),
                maxBody));
        clients.add(client);
        return client;
    }

    /** All of them. */
    List<Tool> tools() {
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
