package dev.millrace.tools.config;

import com.fasterxml.jackson.core.JsonPointer;
import dev.millrace.tools.http.WebSearch;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Turns what the configuration says about the search engine into one. */
final class Searches {

    private record Preset(@Nullable String url, Map<String, String> headers, String results, String snippet) {}

    private static final Preset NONE = new Preset(null, Map.of(), "/results", "/snippet");
    private static final Preset SEARXNG = new Preset(null, Map.of(), "/results", "/content");
    private static final Preset BRAVE = new Preset(
            "https://api.search.brave.com/res/v1/web/search?q={query}&count={limit}",
            Map.of("X-Subscription-Token", "{{secret:BRAVE}}"),
            "/web/results",
            "/description");

    private Searches() {}

    /** {@code null} = there is none. */
    static WebSearch.@Nullable Provider provider(ToolsConfig.WebSearch config) {
        Preset preset = config.preset().map(Searches::preset).orElse(NONE);
        String url = config.url().orElse(preset.url());
        if (url == null) {
            if (config.preset().isPresent()) {
                throw new IllegalArgumentException("millrace.tools.web-search.url: must be set for the preset "
                        + config.preset().get() + ", such as https://search.example.com/search?format=json&q={query}");
            }
            return null;
        }
        Map<String, String> headers = new HashMap<>(preset.headers());
        headers.putAll(config.headers());
        return new WebSearch.Provider(
                url,
                headers,
                pointer("results", config.results(), preset.results()),
                pointer("title", config.title(), "/title"),
                pointer("link", config.link(), "/url"),
                pointer("snippet", config.snippet(), preset.snippet()));
    }

    private static Preset preset(ToolsConfig.WebSearch.Preset preset) {
        return switch (preset) {
            case SEARXNG -> SEARXNG;
            case BRAVE -> BRAVE;
        };
    }

    private static JsonPointer pointer(String key, Optional<String> given, String otherwise) {
        try {
            return JsonPointer.compile(given.orElse(otherwise));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("millrace.tools.web-search." + key + ": " + e.getMessage(), e);
        }
    }
}
