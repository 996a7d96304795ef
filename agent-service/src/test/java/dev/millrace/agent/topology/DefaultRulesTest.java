package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.files.RuleFile;
import dev.millrace.agent.rules.Rule;
import dev.millrace.agent.rules.RuleSet;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules that come with Millrace, and who of them takes what. */
class DefaultRulesTest {

    private final RuleSet rules = RuleFile.builtIn();

    @Test
    @DisplayName("F-237 initEventRules_registers, F-203, F-252: the four rules, and those that came later")
    void shouldComeAlong() {
        assertThat(rules.rules())
                .extracting(Rule::id)
                .containsExactly(
                        "user_query",
                        "background_task",
                        "background_task_news",
                        "environment_switched",
                        "session",
                        "tool_executed",
                        "timer",
                        "fallback");
        assertThat(rules.rules()).allMatch(Rule::enabled);
    }

    @ParameterizedTest
    @CsvSource({
        "user_query, user_query, 100",
        "session.created, session, 50",
        "session.deleted, session, 50",
        "background_task.completed, background_task, 80",
        "background_task.failed, fallback, 10",
        "background_task.progress, background_task_news, 80",
        "background_task.timeout, background_task_news, 80",
        "background_task.stopped, background_task_news, 80",
        "environment.switched, environment_switched, 80",
        "timer.fired, timer, 50",
        "tool.executed, tool_executed, 50",
        "tool.error, fallback, 10",
        "file.changed, fallback, 10",
        "order.placed, fallback, 10"
    })
    @DisplayName("F-204 to F-207, F-237 fallback_rule_matches, X-21: who takes what")
    void shouldTake(String type, String id, int priority) {
        assertThat(rules.match(type, rule -> true)).hasValueSatisfying(rule -> {
            assertThat(rule.id()).isEqualTo(id);
            assertThat(rule.priority()).isEqualTo(priority);
        });
    }

    @ParameterizedTest
    @CsvSource({"session.created", "tool.executed"})
    @DisplayName("X-25: what would trigger itself is noted and no more")
    void shouldOnlyNoteWhatWouldTriggerItself(String type) {
        assertThat(rules.match(type, rule -> true)).map(Rule::handler).hasValue(new Rule.Log());
    }
}
