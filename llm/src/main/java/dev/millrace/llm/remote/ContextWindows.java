package dev.millrace.llm.remote;

import dev.millrace.llm.LanguageModel;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How many tokens models take, where the configuration does not say: as their makers publish it. Names are matched by
 * their beginning, the more particular one first, without what a router puts in front ({@code openai/gpt-4o}).
 */
final class ContextWindows {

    /**
     * What Ollama gives a conversation unless it is told otherwise, whatever the model could take; the rest it drops.
     */
    static final int OLLAMA = 4_096;

    private static final Map<String, Integer> BY_PREFIX = new LinkedHashMap<>();

    static {
        BY_PREFIX.put("gpt-5-chat", 128_000);
        BY_PREFIX.put("gpt-5", 400_000);
        BY_PREFIX.put("gpt-4.1", 1_047_576);
        BY_PREFIX.put("gpt-4o", 128_000);
        BY_PREFIX.put("gpt-4-turbo", 128_000);
        BY_PREFIX.put("gpt-4-32k", 32_768);
        BY_PREFIX.put("gpt-4", 8_192);
        BY_PREFIX.put("gpt-3.5", 16_385);
        BY_PREFIX.put("o1-", 128_000);
        BY_PREFIX.put("o1", 200_000);
        BY_PREFIX.put("o3", 200_000);
        BY_PREFIX.put("o4", 200_000);
        BY_PREFIX.put("claude", 200_000);
        BY_PREFIX.put("gemini-1.5-pro", 2_097_152);
        BY_PREFIX.put("gemini", 1_048_576);
    }

    private ContextWindows() {}

    /** Of this model at this provider; {@link LanguageModel#DEFAULT_CONTEXT_WINDOW} if nobody knows it. */
    static int of(Provider provider, String model) {
        if (provider == Provider.OLLAMA) {
            return OLLAMA;
        }
        String name = model.substring(model.lastIndexOf('/') + 1);
        return BY_PREFIX.entrySet().stream()
                .filter(entry -> name.startsWith(entry.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(LanguageModel.DEFAULT_CONTEXT_WINDOW);
    }
}
