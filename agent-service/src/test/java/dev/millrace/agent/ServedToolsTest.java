package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ServedToolsTest {

    private final Set<String> toolsets = new HashSet<>(Set.of("tool"));
    private final ServedTools tools = new ServedTools(toolsets::contains);

    @Test
    void shouldShowAToolOnlyWhenItsToolsetCanBeAsked() throws MalformedEventException {
        // given
        tools.take("echo", definition("echo", "tool"));
        tools.take("bill", definition("bill", "billing"));
        assertThat(tools.all()).extracting(ToolDefinition::name).containsExactly("echo");
        assertThat(tools.find("bill")).isNull();
        // when
        tools.lookAgain();
        toolsets.add("billing");
        tools.lookAgain();
        // then
        assertThat(tools.all()).extracting(ToolDefinition::name).containsExactly("bill", "echo");
    }

    @Test
    void shouldNotShowAToolAnyMoreWhoseToolsetCannotBeAsked() throws MalformedEventException {
        // given
        tools.take("echo", definition("echo", "tool"));
        tools.take("copy", definition("copy", "tool"));
        // when
        toolsets.clear();
        tools.lookAgain();
        // then
        assertThat(tools.all()).isEmpty();
        assertThat(tools.find("echo")).isNull();
        assertThat(tools.toolsets()).as("it is looked at").containsExactly("tool");
        // when
        toolsets.add("tool");
        tools.lookAgain();
        // then
        assertThat(tools.all()).extracting(ToolDefinition::name).containsExactly("copy", "echo");
    }

    @Test
    void shouldForgetWhatIsTakenBackWhileItWaits() throws MalformedEventException {
        // given
        tools.take("bill", definition("bill", "billing"));
        tools.take("bill", null);
        // when
        toolsets.add("billing");
        tools.lookAgain();
        // then
        assertThat(tools.all()).isEmpty();
    }

    @Test
    void shouldRefuseADefinitionUnderAnotherToolsKey() throws MalformedEventException {
        // given
        tools.take("echo", definition("echo", "tool"));
        // when, then
        assertThatThrownBy(() -> tools.take("other", definition("echo", "tool")))
                .isInstanceOf(MalformedEventException.class)
                .hasMessageContaining("expected the key tool/echo, found the id other");
    }

    @Test
    void shouldKnowNothingWhenItBeginsAnew() throws MalformedEventException {
        // given
        tools.take("echo", definition("echo", "tool"));
        tools.take("bill", definition("bill", "billing"));
        assertThat(tools.toolsets()).containsExactlyInAnyOrder("tool", "billing");
        // when
        tools.beginAnew();
        toolsets.add("billing");
        tools.lookAgain();
        // then
        assertThat(tools.all()).isEmpty();
        assertThat(tools.toolsets()).isEmpty();
    }

    private static byte[] definition(String name, String toolset) {
        return new ToolDefinition(name, "d", JsonObject.empty(), toolset, 5, ToolDefinition.SideEffects.DESTRUCTIVE)
                .toJson();
    }
}
