package dev.millrace.tools.env;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.schemas.JsonObject;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallContext;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("F-169: set_env")
class SetEnvTest {

    private final Variables variables = new MemoryVariables();
    private final CallableTool setEnv = Calls.tool(new EnvTools(variables, List.of(), name -> null), "set_env");
    private final CallableTool getEnv =
            Calls.tool(new EnvTools(variables, List.of("LANG"), Map.of("LANG", "de")::get), "get_env");

    @Test
    void shouldGiveBackWhatWasSet() throws Exception {
        // when
        Map<String, Object> answer = Calls.result(setEnv, Map.of("key", "BRANCH", "value", "main"));
        // then
        assertThat(answer).containsEntry("scope", "task");
        assertThat(Calls.result(getEnv, Map.of("key", "BRANCH"))).containsEntry("value", "main");
    }

    @Test
    void shouldStandBeforeTheOperatorsEnvironmentAndLeaveItAsItIs() throws Exception {
        // when
        Calls.result(setEnv, Map.of("key", "LANG", "value", ""));
        // then
        assertThat(Calls.result(getEnv, Map.of("key", "LANG"))).containsEntry("value", "");
        assertThat(valueFor(new CallContext("task-2", null, "default", "call"), "LANG"))
                .isEqualTo("de");
    }

    @Test
    void shouldBeSeenInTheWholeSessionAndNowhereElse() throws Exception {
        // when
        setEnv.call(
                JsonObject.of(Map.of("key", "BRANCH", "value", "main")),
                new CallContext("task-1", "s-1", "default", "call"));
        // then
        assertThat(valueFor(new CallContext("task-2", "s-1", "default", "call"), "BRANCH"))
                .isEqualTo("main");
        for (ToolContext stranger : List.of(
                new CallContext("task-2", "s-2", "default", "call"),
                new CallContext("task-1", null, "default", "call"),
                new CallContext("task-1", "s-1", "other", "call"),
                new CallContext("s-1", null, "default", "call"))) {
            assertThat(catchThrowableOfType(
                            ToolException.class, () -> getEnv.call(JsonObject.of(Map.of("key", "BRANCH")), stranger)))
                    .as("%s", stranger)
                    .isNotNull()
                    .extracting(ToolException::code)
                    .isEqualTo("env_not_set");
        }
    }

    @Test
    void shouldTakeAValueOfTheGreatestLengthAndNoLongerOne() throws Exception {
        // given
        String longest = "x".repeat(EnvTools.MAX_VALUE);
        // then
        assertThat(Calls.result(setEnv, Map.of("key", "A", "value", longest))).containsEntry("key", "A");
        assertThat(Calls.refusal(setEnv, Map.of("key", "A", "value", longest + "x"))
                        .code())
                .isEqualTo("value_too_long");
    }

    private Object valueFor(ToolContext context, String key) throws Exception {
        Map<?, ?> result = (Map<?, ?>) Objects.requireNonNull(getEnv.call(JsonObject.of(Map.of("key", key)), context));
        return Objects.requireNonNull(result.get("value"));
    }
}
