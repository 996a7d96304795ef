package dev.millrace.llm.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.Requests;
import dev.millrace.llm.Secret;
import dev.millrace.llm.config.LlmSettings.Scripted;
import dev.millrace.llm.openai.OpenAiSettings;
import dev.millrace.llm.scripted.InvalidScriptException;
import dev.millrace.testing.StubOpenAiServer;
import dev.millrace.testing.StubOpenAiServer.Answer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LanguageModelsTest {

    private static final Map<String, String> KEY = Map.of("OPENAI_API_KEY", "sk-very-secret");

    private static LlmSettings settings(
            LlmSettings.@Nullable Provider provider, @Nullable URI baseUrl, @Nullable Path script) {
        OpenAiSettings defaults = OpenAiSettings.DEFAULTS;
        return new LlmSettings(
                provider,
                new OpenAiSettings(baseUrl, null, null, defaults.connectTimeout(), defaults.requestTimeout()),
                new Scripted(script, null),
                DispatcherLimits.DEFAULTS);
    }

    private static LanguageModel from(LlmSettings settings, Map<String, String> environment) {
        return LanguageModels.fromEnvironment(settings, environment);
    }

    @Test
    void shouldTakeTheScriptedModelWhenNothingIsSet() {
        // when
        LanguageModel model = from(LlmSettings.DEFAULTS, Map.of("OPENAI_API_KEY", " ", "MILLRACE_MODEL", "gpt-9"));

        // then
        assertThat(model.name()).isEqualTo("scripted");
        assertThat(model.description()).isEqualTo("scripted model, not a real one (built-in script)");
    }

    @Test
    void shouldTakeOpenAiWhenThereIsAKey() {
        // when
        LanguageModel model = from(LlmSettings.DEFAULTS, KEY);

        // then
        assertThat(model.description()).isEqualTo("gpt-4o-mini at https://api.openai.com/v1");
    }

    @Test
    void shouldTakeTheEndpointAndModelOfTheEnvironment() {
        // when
        LanguageModel model = from(
                LlmSettings.DEFAULTS,
                Map.of("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1", "MILLRACE_MODEL", "qwen3"));

        // then
        assertThat(model.description()).isEqualTo("qwen3 at http://127.0.0.1:11434/v1");
    }

    @Test
    void shouldAskTheEndpointWithTheKeyOfTheEnvironment() throws Exception {
        // given
        try (StubOpenAiServer server = StubOpenAiServer.start(request -> Answer.text("real enough"))) {
            LanguageModel model = from(
                    LlmSettings.DEFAULTS,
                    Map.of("OPENAI_BASE_URL", server.baseUrl().toString(), "OPENAI_API_KEY", "sk-very-secret"));

            // when
            String text = model.chat(Requests.user("hi").build()).text();

            // then
            assertThat(text).isEqualTo("real enough");
            assertThat(server.requests().getFirst().headers()).containsEntry("authorization", "Bearer sk-very-secret");
        }
    }

    @Test
    void shouldPreferTheSettingsToTheEnvironment() {
        // when
        LanguageModel model = from(
                settings(null, URI.create("http://127.0.0.1:9/v1"), null),
                Map.of("OPENAI_BASE_URL", "http://127.0.0.1:8/v1"));

        // then
        assertThat(model.description()).endsWith(" at http://127.0.0.1:9/v1");
    }

    @Test
    void shouldPreferAScriptInTheSettingsToAKeyInTheEnvironment(@TempDir Path folder) throws Exception {
        // given
        Path script = Files.writeString(folder.resolve("s.yaml"), "model: mine\nrules: [{text: a}]");

        // when
        LanguageModel model = from(settings(null, null, script), KEY);

        // then
        assertThat(model.name()).isEqualTo("mine");
        assertThat(model.description()).contains(script.toString());
    }

    @Test
    void shouldLetTheProviderDecide() {
        // when
        LanguageModel model =
                from(settings(LlmSettings.Provider.SCRIPTED, URI.create("http://127.0.0.1:9/v1"), null), KEY);

        // then
        assertThat(model.name()).isEqualTo("scripted");
    }

    @Test
    void shouldAskWhichOfTwoIsMeant() {
        assertThatThrownBy(() -> from(settings(null, URI.create("http://127.0.0.1:9/v1"), Path.of("s.yaml")), KEY))
                .hasMessage("millrace.llm.provider: expected \"openai\" or \"scripted\", since both are set up, "
                        + "found no value");
    }

    @Test
    void shouldSayWhatOpenAiNeeds() {
        assertThatThrownBy(() -> from(settings(LlmSettings.Provider.OPENAI, null, null), Map.of()))
                .hasMessage("millrace.llm.provider: expected a key in OPENAI_API_KEY, or an endpoint without one in "
                        + "OPENAI_BASE_URL, for \"openai\", found neither");
    }

    @Test
    void shouldNameTheVariableOfABadUrl() {
        assertThatThrownBy(() -> from(LlmSettings.DEFAULTS, Map.of("OPENAI_BASE_URL", "localhost:8080")))
                .hasMessage("OPENAI_BASE_URL: expected an http or https URL such as https://api.openai.com/v1, found "
                        + "\"localhost:8080\"");
    }

    @Test
    void shouldNotRepeatThePasswordOfAUrl() {
        assertThatThrownBy(() -> settings(null, URI.create("http://me:secret@host/v1"), null))
                .hasMessageStartingWith("millrace.llm.openai.base-url: expected ")
                .hasMessageNotContaining("secret");
    }

    @Test
    void shouldPassOnWhatIsWrongWithAScript() {
        assertThatThrownBy(() -> from(settings(null, null, Path.of("no-such.yaml")), Map.of()))
                .isInstanceOf(InvalidScriptException.class)
                .hasMessage("no-such.yaml: there is no such file");
    }

    @Test
    void shouldNotShowAKey() {
        // given
        OpenAiSettings settings = new OpenAiSettings(
                null,
                new Secret("sk-very-secret"),
                null,
                OpenAiSettings.DEFAULTS.connectTimeout(),
                OpenAiSettings.DEFAULTS.requestTimeout());

        // when
        String shown = new LlmSettings(null, settings, Scripted.DEFAULTS, DispatcherLimits.DEFAULTS).toString();

        // then
        assertThat(shown).doesNotContain("sk-very-secret");
    }
}
