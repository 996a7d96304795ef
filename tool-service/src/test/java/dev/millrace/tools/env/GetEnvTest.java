package dev.millrace.tools.env;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("F-169: get_env")
class GetEnvTest {

    private static final Map<String, String> ENVIRONMENT =
            Map.of("LANG", "de", "APP_MODE", "test", "APP_KEY", "k", "OPENAI_API_KEY", "secret");

    private final CallableTool tool = Calls.tool(
            new EnvTools(new MemoryVariables(), List.of("LANG", "APP_*", "MISSING"), ENVIRONMENT::get), "get_env");

    @Test
    void shouldReadWhatIsAllowed() throws ToolException, InterruptedException {
        assertThat(Calls.result(tool, Map.of("key", "LANG"))).containsEntry("value", "de");
        assertThat(Calls.result(tool, Map.of("key", "APP_MODE"))).containsEntry("value", "test");
    }

    @Test
    void shouldSayTheSameOfWhatIsNotAllowedAndWhatIsNotSet() {
        // when
        ToolException notAllowed = Calls.refusal(tool, Map.of("key", "OPENAI_API_KEY"));
        ToolException notSet = Calls.refusal(tool, Map.of("key", "MISSING"));
        // then
        assertThat(notAllowed.code()).isEqualTo(notSet.code()).isEqualTo("env_not_set");
        assertThat(String.valueOf(notAllowed.getMessage()).replace("OPENAI_API_KEY", "MISSING"))
                .isEqualTo(notSet.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"LANGUAGE", "lang", "APP", "APP_*", "*"})
    void shouldTakeNamesAsTheyAre(String key) {
        assertThat(Calls.refusal(tool, Map.of("key", key)).code()).isEqualTo("env_not_set");
    }

    @Test
    void shouldAllowNothingUnlessToldTo() {
        assertThat(Calls.refusal(
                                Calls.tool(new EnvTools(new MemoryVariables(), List.of(), ENVIRONMENT::get), "get_env"),
                                Map.of("key", "LANG"))
                        .code())
                .isEqualTo("env_not_set");
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", "*_KEY", "A*B", " "})
    void shouldRefusePatternsThatAllowMoreThanTheyLookLike(String pattern) {
        assertThatThrownBy(() ->
                        Calls.tool(new EnvTools(new MemoryVariables(), List.of(pattern), ENVIRONMENT::get), "get_env"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("millrace.tools.env.allow");
    }
}
