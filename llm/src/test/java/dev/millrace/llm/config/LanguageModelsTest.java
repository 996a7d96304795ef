package dev.millrace.llm.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.Requests;
import dev.millrace.llm.config.LlmConfig.Kind;
import dev.millrace.llm.scripted.InvalidScriptException;
import dev.millrace.testing.Configured;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LanguageModelsTest {

    private static final Map<String, String> KEY = Map.of("OPENAI_API_KEY", "sk-very-secret");
    private static final LlmConfig NOTHING = Configured.of(LlmConfig.class, Map.of());
    private static final URI SOMEWHERE = URI.create("http://127.0.0.1:9/v1");

    /** A model of the configuration, as keys below its name. */
    private static Map<String, String> model(Kind kind, Map<String, String> keys) {
        return with(keys, "provider", kind.name().toLowerCase(Locale.ROOT));
    }

    private static Map<String, String> at(@Nullable URI baseUrl, String model) {
        return model(Kind.OPENAI, Map.of("model", model, "base-url", String.valueOf(baseUrl)));
    }

    private static Map<String, String> with(Map<String, String> keys, String key, String value) {
        Map<String, String> all = new HashMap<>(keys);
        all.put(key, value);
        return all;
    }

    private static LlmConfig settings(@Nullable String defaultModel, Map<String, Map<String, String>> models) {
        return settings(defaultModel, models, Map.of());
    }

    private static LlmConfig settings(
            @Nullable String defaultModel, Map<String, Map<String, String>> models, Map<String, String> others) {
        Map<String, String> all = new HashMap<>(others);
        if (defaultModel != null) {
            all.put("millrace.llm.default", defaultModel);
        }
        models.forEach((name, keys) ->
                keys.forEach((key, value) -> all.put("millrace.llm.models." + name + "." + key, value)));
        return Configured.of(LlmConfig.class, all);
    }

    private static LlmConfig script(Path script) {
        return settings(null, Map.of(), Map.of("millrace.llm.scripted.script", script.toString()));
    }

    private static LanguageModel from(LlmConfig settings, Map<String, String> environment) {
        return LanguageModels.fromEnvironment(settings, environment);
    }

    private static ModelRequest asking(@Nullable String model) {
        return Requests.user("hi").build(model);
    }

    @Test
    void shouldTakeTheScriptedModelWhenNothingIsSet() {
        // when
        LanguageModel model = from(NOTHING, Map.of("OPENAI_API_KEY", " ", "MILLRACE_MODEL", "gpt-9"));

        // then
        assertThat(model.name()).isEqualTo("scripted");
        assertThat(model.description()).isEqualTo("scripted model, not a real one (built-in script)");
    }

    @ParameterizedTest
    @CsvSource({
        "OPENAI_API_KEY, sk-1, gpt-4o-mini at https://api.openai.com/v1 (openai)",
        "OPENAI_BASE_URL, http://127.0.0.1:9/v1, gpt-4o-mini at http://127.0.0.1:9/v1 (openai)",
        "ANTHROPIC_API_KEY, sk-1, claude-sonnet-4-5 at https://api.anthropic.com/v1 (anthropic)",
        "GEMINI_API_KEY, sk-1, gemini-2.5-flash at https://generativelanguage.googleapis.com/v1beta (gemini)",
        "OLLAMA_BASE_URL, http://127.0.0.1:11434, llama3.2 at http://127.0.0.1:11434 (ollama)",
    })
    @DisplayName("one variable of any provider is enough")
    void shouldTakeTheProviderOfTheEnvironment(String variable, String value, String description) {
        // when
        LanguageModel model = from(NOTHING, Map.of(variable, value));

        // then
        assertThat(model.description()).isEqualTo(description).doesNotContain("sk-1");
    }

    @Test
    void shouldTakeTheModelOfTheEnvironment() {
        // when
        LanguageModel model =
                from(NOTHING, Map.of("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1", "MILLRACE_MODEL", "qwen3"));

        // then
        assertThat(model.name()).isEqualTo("qwen3");
    }

    @Test
    void shouldAskTheEndpointWithTheKeyOfTheEnvironment() throws Exception {
        // given
        try (StubModelServer server = StubModelServer.start(request -> Answer.text("real enough"))) {
            LanguageModel model = from(
                    NOTHING,
                    Map.of("OPENAI_BASE_URL", server.baseUrl().toString(), "OPENAI_API_KEY", "sk-very-secret"));

            // when
            String text = model.chat(asking(null)).text();

            // then
            assertThat(text).isEqualTo("real enough");
            assertThat(server.requests().getFirst().headers()).containsEntry("authorization", "Bearer sk-very-secret");
        }
    }

    @Test
    void shouldAskTheModelThatIsNamed() throws Exception {
        // given
        try (StubModelServer fast = StubModelServer.start(request -> Answer.text("quick"));
                StubModelServer powerful = StubModelServer.start(request -> Answer.text("deep"))) {
            LanguageModel model = from(
                    settings(
                            "powerful",
                            Map.of("fast", at(fast.baseUrl(), "small"), "powerful", at(powerful.baseUrl(), "large"))),
                    Map.of());

            // when
            ModelReply named = model.chat(asking("fast"));
            ModelReply unnamed = model.chat(asking(null));
            ModelReply size = model.chat(asking("balanced"));
            ModelReply other = model.chat(asking("large-2"));

            // then
            assertThat(named.text()).isEqualTo("quick");
            assertThat(unnamed.text()).isEqualTo("deep");
            assertThat(size.text()).isEqualTo("deep");
            assertThat(other.text()).isEqualTo("deep");
            assertThat(fast.requests()).extracting(r -> r.body().get("model")).containsExactly("small");
            assertThat(powerful.requests())
                    .extracting(r -> r.body().get("model"))
                    .containsExactly("large", "large", "large-2");
        }
    }

    @Test
    void shouldSayWhichModelsAnswer() {
        // when
        LanguageModel model = from(
                settings(null, Map.of("fast", at(SOMEWHERE, "small"), "balanced", at(SOMEWHERE, "medium"))), Map.of());

        // then
        assertThat(model.description())
                .isEqualTo("balanced (the default): medium at http://127.0.0.1:9/v1 (openai); "
                        + "fast: small at http://127.0.0.1:9/v1 (openai)");
    }

    @Test
    void shouldPutThePriceOnTheReply() throws Exception {
        // given
        try (StubModelServer server = StubModelServer.start(request -> Answer.text("a"))) {
            LanguageModel model = from(
                    settings(
                            null,
                            Map.of(
                                    "m",
                                    with(
                                            with(
                                                    with(at(server.baseUrl(), "x"), "price.input", "2.50"),
                                                    "price.output",
                                                    "10"),
                                            "price.cached-input",
                                            "0.25"))),
                    Map.of());

            // when
            ModelReply reply = model.chat(asking(null));

            // then
            assertThat(reply.usage()).isEqualTo(new Usage(10, 5).costing(75));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1000, 0, 0, 0, 2500",
        "1000, 200, 0, 0, 2050",
        "1000, 0, 100, 0, 2625",
        "0, 0, 0, 7, 70",
        "1, 0, 0, 0, 3"
    })
    void shouldCountWhatTheCacheSavesAndCosts(long in, long cached, long written, long out, long micros) {
        // given
        Price price =
                new Price(new BigDecimal("2.50"), new BigDecimal("10"), new BigDecimal("0.25"), new BigDecimal("3.75"));

        // then
        assertThat(price.micros(new Usage(in, out, cached, written, 0, null))).isEqualTo(micros);
    }

    @Test
    void shouldNameTheFallback() {
        // when
        LanguageModel model = from(
                settings(
                        "a",
                        Map.of(
                                "a", model(Kind.OPENAI, Map.of("base-url", SOMEWHERE.toString(), "fallback", "b")),
                                "b", at(SOMEWHERE, "x"))),
                Map.of());

        // then
        assertThat(model.fallbackFor(null)).isEqualTo("b");
        assertThat(model.fallbackFor("a")).isEqualTo("b");
        assertThat(model.fallbackFor("b")).isNull();
    }

    @Test
    void shouldPreferAScriptInTheSettingsToAKeyInTheEnvironment(@TempDir Path folder) throws Exception {
        // given
        Path script = Files.writeString(folder.resolve("s.yaml"), "model: mine\nrules: [{text: a}]");

        // when
        LanguageModel model = from(script(script), KEY);

        // then
        assertThat(model.name()).isEqualTo("mine");
        assertThat(model.description()).contains(script.toString());
    }

    @Test
    void shouldReadAKeyFromAFile(@TempDir Path folder) throws Exception {
        // given
        Path file = Files.writeString(folder.resolve("key"), " sk-from-file\n");
        try (StubModelServer server = StubModelServer.start(request -> Answer.text("a"))) {
            LanguageModel model = from(
                    settings(null, Map.of("m", with(at(server.baseUrl(), "x"), "api-key-file", file.toString()))), KEY);

            // when
            ModelReply reply = model.chat(asking(null));

            // then
            assertThat(reply.text()).isEqualTo("a");
            assertThat(server.requests().getFirst().headers()).containsEntry("authorization", "Bearer sk-from-file");
        }
    }

    @Test
    @DisplayName("the usual key is the provider's, and no other endpoint gets it unasked")
    void shouldNotSendTheUsualKeyElsewhere() throws Exception {
        // given
        try (StubModelServer server = StubModelServer.start(request -> Answer.text("a"))) {
            LanguageModel model = from(settings(null, Map.of("m", at(server.baseUrl(), "x"))), KEY);

            // when
            ModelReply reply = model.chat(asking(null));

            // then
            assertThat(reply.text()).isEqualTo("a");
            assertThat(server.requests().getFirst().headers()).doesNotContainKey("authorization");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\uFEFFsk-secret", "sk-secret\nsk-second", "sk secret", "sk-secret\u201d"})
    void shouldRefuseAKeyThatNoHeaderHoldsWithoutShowingIt(String key, @TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("key"), key);
        Map<String, String> environment = Map.of("MY_KEY", key);

        assertThatThrownBy(() -> from(
                        settings(null, Map.of("m", model(Kind.OPENAI, Map.of("api-key-file", file.toString())))), KEY))
                .hasMessageStartingWith("millrace.llm.models.m.api-key-file (" + file + "): expected a key of visible")
                .message()
                .doesNotContain("secret", "sk");
        assertThatThrownBy(() -> from(
                        settings(null, Map.of("m", model(Kind.OPENAI, Map.of("api-key-env", "MY_KEY")))), environment))
                .hasMessageStartingWith("the environment variable MY_KEY: expected a key of visible")
                .message()
                .doesNotContain("secret", "sk");
    }

    @Test
    void shouldSayWhereAKeyIsMissing(@TempDir Path folder) throws Exception {
        Path empty = Files.writeString(folder.resolve("key"), "\n");
        assertThatThrownBy(() -> from(settings(null, Map.of("m", model(Kind.GEMINI, Map.of()))), KEY))
                .hasMessage("millrace.llm.models.m: expected a key in GEMINI_API_KEY, in the variable that api-key-env "
                        + "names, or in the file api-key-file, found none");
        assertThatThrownBy(() ->
                        from(settings(null, Map.of("m", model(Kind.OPENAI, Map.of("api-key-env", "MY_KEY")))), KEY))
                .hasMessage("millrace.llm.models.m.api-key-env: expected a key in the environment variable MY_KEY, "
                        + "found none");
        assertThatThrownBy(() -> from(
                        settings(null, Map.of("m", model(Kind.OPENAI, Map.of("api-key-file", empty.toString())))), KEY))
                .hasMessage("millrace.llm.models.m.api-key-file: expected a file with a key, found " + empty
                        + ", which is empty");
        assertThatThrownBy(() ->
                        from(settings(null, Map.of("m", model(Kind.OPENAI, Map.of("api-key-file", "no-such")))), KEY))
                .hasMessage("millrace.llm.models.m.api-key-file: expected a file with a key, found no-such, "
                        + "which cannot be read (NoSuchFileException)");
    }

    @Test
    void shouldAskWhichOneIsTheDefault() {
        assertThatThrownBy(() ->
                        from(settings(null, Map.of("a", at(SOMEWHERE, "x"), "b", at(SOMEWHERE, "y"))), Map.of()))
                .hasMessage("millrace.llm.default: expected one of a, b, found no value");
        assertThatThrownBy(() -> from(settings("c", Map.of("a", at(SOMEWHERE, "x"))), Map.of()))
                .hasMessage("millrace.llm.default: expected one of a, found \"c\"");
    }

    @Test
    void shouldRefuseAFallbackThatIsNotThere() {
        assertThatThrownBy(() -> from(
                        settings(
                                null,
                                Map.of(
                                        "a",
                                        model(Kind.OPENAI, Map.of("base-url", SOMEWHERE.toString(), "fallback", "a")))),
                        Map.of()))
                .hasMessage("millrace.llm.models.a.fallback: expected the name of another model under models, "
                        + "found \"a\"");
    }

    @Test
    void shouldNameTheVariableOfABadUrl() {
        assertThatThrownBy(() -> from(NOTHING, Map.of("OPENAI_BASE_URL", "localhost:8080")))
                .hasMessage("OPENAI_BASE_URL: expected an http or https URL such as https://api.openai.com/v1, found "
                        + "\"localhost:8080\"");
    }

    @Test
    void shouldNotRepeatThePasswordOfAUrl() {
        assertThatThrownBy(() ->
                        from(settings(null, Map.of("m", at(URI.create("http://me:secret@host/v1"), "x"))), Map.of()))
                .hasMessageStartingWith("millrace.llm.models.m.base-url: expected ")
                .hasMessageNotContaining("secret");
    }

    @Test
    void shouldPassOnWhatIsWrongWithAScript() {
        assertThatThrownBy(() -> from(script(Path.of("no-such.yaml")), Map.of()))
                .isInstanceOf(InvalidScriptException.class)
                .hasMessage("no-such.yaml: there is no such file");
    }

    @ParameterizedTest
    @DisplayName("F-179: what a model takes is what its maker says, 128000 if nobody knows it")
    @CsvSource({
        "OPENAI, gpt-4o-mini, 128000",
        "OPENAI, openai/gpt-4.1-nano, 1047576",
        "OPENAI, gpt-5-mini, 400000",
        "OPENAI, qwen3-32b, 128000",
        "ANTHROPIC, claude-opus-4-5, 200000",
        "GEMINI, gemini-2.5-flash, 1048576",
        "OLLAMA, llama3.2, 4096",
        "SCRIPTED, any, 128000"
    })
    void shouldKnowContextWindows(Kind kind, String model, int tokens) {
        LanguageModel models = from(
                settings("one", Map.of("one", model(kind, Map.of("model", model, "base-url", SOMEWHERE.toString())))),
                Map.of());

        assertThat(models.contextWindow("one")).isEqualTo(tokens);
        assertThat(models.contextWindow(null)).isEqualTo(tokens);
        assertThat(models.contextWindow("fast")).isEqualTo(tokens);
    }

    @Test
    @DisplayName("F-179: the configuration says better what a model takes; Ollama is told")
    void shouldTakeContextWindowFromTheSettings() throws Exception {
        Map<String, Object> answer =
                Map.of("model", "m", "message", Map.of("role", "assistant", "content", "hi"), "done", true);
        try (StubModelServer server = StubModelServer.start(request -> Answer.json(Map.copyOf(answer)))) {
            LanguageModel models = from(
                    settings(
                            "house",
                            Map.of(
                                    "house",
                                    model(
                                            Kind.OLLAMA,
                                            Map.of(
                                                    "model", "m",
                                                    "base-url", server.url().toString(),
                                                    "context-window", "32768")))),
                    Map.of());

            models.chat(Requests.user("hello").build());

            assertThat(models.contextWindow(null)).isEqualTo(32_768);
            assertThat(server.requests().getFirst().body())
                    .extractingByKey("options")
                    .asInstanceOf(InstanceOfAssertFactories.MAP)
                    .containsEntry("num_ctx", 32_768);
        }
    }

    private static LlmConfig limited(String key, Map<String, Map<String, String>> models) {
        return settings(null, models, Map.of("millrace.llm.keys." + key + ".max-requests", "60"));
    }

    @Test
    void shouldNameTheKeysThatModelsAreAskedWith() {
        // given
        Map<String, String> usual = model(Kind.OPENAI, Map.of());
        Map<String, String> own = at(SOMEWHERE, "x");
        Map<String, String> shared = with(at(SOMEWHERE, "x"), "key", "team");
        Map<String, String> scripted = model(Kind.SCRIPTED, Map.of());

        // when
        LanguageModel models = from(
                limited("team", Map.of("default", usual, "own", own, "shared", shared, "scripted", scripted)), KEY);

        // then
        assertThat(models.keyFor(null)).isEqualTo("openai");
        assertThat(models.keyFor("own")).isEqualTo("own");
        assertThat(models.keyFor("shared")).isEqualTo("team");
        assertThat(models.keyFor("scripted")).isNull();
        assertThat(from(NOTHING, KEY).keyFor(null)).isEqualTo("openai");
    }

    @Test
    void shouldRefuseLimitsOfAKeyThatNobodyUses() {
        assertThatThrownBy(() -> from(limited("opnai", Map.of()), KEY))
                .hasMessage("millrace.llm.keys.opnai: expected the name of a key that a model is asked with, which are"
                        + " openai, found limits for a key that none is asked with");
    }
}
