package dev.millrace.agent.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.Agents;
import dev.millrace.agent.UnknownAgentException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BuiltInAgentsTest {

    private static final List<String> ALL = List.of(
                    "current_time sleep get_env set_env read_file write_file list_files delete_file move_file get_file_info edit_file"
                            .split(" "),
                    "grep_files http_get http_post http_request web_search json_parse json_stringify base64_encode base64_decode"
                            .split(" "),
                    "memory_list memory_read memory_write memory_patch memory_append task_list task_replay notify"
                            .split(" "))
            .stream()
            .flatMap(Stream::of)
            .toList();

    private static final List<String> EXPLORE =
            List.of(("current_time get_env read_file list_files get_file_info grep_files http_get web_search json_parse"
                            + " base64_decode memory_list memory_read task_list task_replay notify")
                    .split(" "));

    private final Agents agents = BuiltInAgents.agents();

    @Test
    @DisplayName("F-150: general has all 28 tools")
    void shouldGiveGeneralEverything() {
        assertThat(ALL).hasSize(28).allMatch(tool -> agents.of("general").allows(tool));
    }

    @Test
    @DisplayName("F-151, F-153: explore has its 15 tools, which only read")
    void shouldLetExploreRead() {
        assertThat(EXPLORE).hasSize(15);
        assertThat(ALL.stream().filter(agents.of("explore")::allows)).containsExactlyInAnyOrderElementsOf(EXPLORE);
        assertThat(agents.of("explore").allows("http_request")).isFalse();
        assertThat(agents.of("explore").allows("anything__else")).isFalse();
    }

    @Test
    @DisplayName("F-152, F-153: plan has 17: those of explore, and may write down and append")
    void shouldLetPlanRemember() {
        assertThat(ALL.stream().filter(agents.of("plan")::allows))
                .hasSize(17)
                .containsAll(EXPLORE)
                .contains("memory_write", "memory_append")
                .doesNotContain("memory_patch", "http_request");
    }

    @Test
    @DisplayName("F-155: each has a prompt of its own, with the limit of 2000 characters")
    void shouldHavePrompts() {
        assertThat(agents.all())
                .hasSize(3)
                .allSatisfy(agent -> assertThat(agent.definition().prompt().text())
                        .contains("2000 characters")
                        .contains("{{date}}"));
        assertThat(agents.all())
                .extracting(agent -> agent.definition().prompt().text())
                .doesNotHaveDuplicates();
    }

    @Test
    @DisplayName(
            "ADR 0025: nobody stands in for an unknown agent, unless the operator names one; a lost version is one that is in force")
    void shouldNotFallBackToGeneral() {
        assertThat(agents.find("nobody")).isEmpty();
        assertThat(agents.find("nobody@0123456789ab")).isEmpty();
        assertThat(agents.of("explore@0123456789ab").name()).isEqualTo("explore");
        assertThatThrownBy(() -> agents.forNewTask("nobody", name -> true))
                .isInstanceOf(UnknownAgentException.class)
                .hasMessage("expected the name of an agent, found nobody; there are: explore, general, plan");
        assertThat(BuiltInAgents.agents("explore")
                        .forNewTask("nobody", name -> true)
                        .name())
                .isEqualTo("explore");
        assertThatThrownBy(() -> BuiltInAgents.agents("nobody either").forNewTask("nobody", name -> true))
                .isInstanceOf(UnknownAgentException.class);
    }
}
