package dev.millrace.tools.http;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Size;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Asks the search engine that the operator has named. */
public final class WebSearch {

    private static final int DEFAULT_LIMIT = 10;
    static final int MAX_LIMIT = 20;

    private final HttpCalls calls;
    private final @Nullable Provider provider;

    /**
     * A search engine.
     *
     * @param url with {@code {query}} and perhaps {@code {limit}} in it
     * @param headers by name; values may name secrets
     * @param results where in the answer the list of results is
     * @param title where in a result its title is; likewise {@code link} and {@code snippet}
     */
    public record Provider(
            String url,
            Map<String, String> headers,
            JsonPointer results,
            JsonPointer title,
            JsonPointer link,
            JsonPointer snippet) {
        public Provider {
            if (!url.contains("{query}")) {
                throw new IllegalArgumentException(
                        "millrace.tools.web-search.url: expected a URL with {query} in it, found \"" + url + "\"");
            }
            headers = Map.copyOf(headers);
        }

        /** The URL of a search. */
        public String urlFor(String query, int limit) {
            return url.replace("{limit}", Integer.toString(limit))
                    .replace("{query}", URLEncoder.encode(query, StandardCharsets.UTF_8));
        }
    }

    /** What was found. */
    record Found(List<Page> results) {}

    /** A page that was found. */
    record Page(String title, String url, String snippet) {}

    /** Asks this engine; {@code null} = there is none, and each call says so. */
    public WebSearch(HttpCalls calls, @Nullable Provider provider) {
        this.calls = calls;
        this.provider = provider;
    }

    @Tool(
            name = "web_search",
            value = "Searches the web; returns title, URL and a snippet of each page that is found.",
            sideEffects = SideEffects.READ_ONLY)
    Found search(
            @Param("What to look for.") @Size(min = 1, max = 1_000) String query,
            @Param(name = "limit", value = "The most results. Absent = " + DEFAULT_LIMIT + ".")
                    Optional<@Min(1) @Max(MAX_LIMIT) Integer> wanted,
            ToolContext context)
            throws ToolException, InterruptedException {
        if (provider == null) {
            throw new ToolException(
                    "not_configured",
                    "No search engine is configured (millrace.tools.web-search.url); the operator would have to do"
                            + " that");
        }
        int limit = wanted.orElse(DEFAULT_LIMIT);
        String url = provider.urlFor(query, limit);
        HttpCalls.Fetched answer =
                calls.call(new HttpCalls.Ask("GET", url, withAccept(provider.headers()), null), context.namespace());
        if (answer.status() != 200) {
            throw new ToolException(
                    "http_status",
                    "The search engine answered with status " + answer.status() + ": "
                            + HttpCalls.start(answer.body()));
        }
        return new Found(pages(provider, answer.body(), limit));
    }

    private static Map<String, String> withAccept(Map<String, String> headers) {
        Map<String, String> all = new LinkedHashMap<>(headers);
        if (headers.keySet().stream().noneMatch("accept"::equalsIgnoreCase)) {
            all.put("Accept", "application/json");
        }
        return all;
    }

    private static List<Page> pages(Provider provider, String body, int limit) throws ToolException {
        JsonNode list;
        try {
            list = Json.MAPPER.readTree(body).at(provider.results());
        } catch (JsonProcessingException e) {
            throw new ToolException(
                    "unreadable_answer", "The search engine answered with no JSON: " + HttpCalls.start(body));
        }
        List<Page> pages = new ArrayList<>();
        // nothing found: some engines leave the list out then
        for (JsonNode each : list.isArray() ? list : List.<JsonNode>of()) {
            if (pages.size() == limit) {
                break;
            }
            pages.add(new Page(
                    each.at(provider.title()).asText(),
                    each.at(provider.link()).asText(),
                    each.at(provider.snippet()).asText()));
        }
        return pages;
    }
}
