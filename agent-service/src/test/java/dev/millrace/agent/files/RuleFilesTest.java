package dev.millrace.agent.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.rules.Rule;
import dev.millrace.agent.rules.RuleSet;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.rules.TypePattern;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rules as files, and the folder of them. */
class RuleFilesTest {

    @TempDir
    private Path folder;

    private final Rules rules = new Rules(RuleSet.NONE, Rules.Bounds.DEFAULT);

    @SuppressWarnings("NullAway.Init") // JUnit sets the folder
    RuleFilesTest() {}

    @Test
    void shouldReadEveryKey() throws InvalidAgentException {
        // when
        List<Rule> read = RuleFile.read("""
                rules:
                  reports:
                    on: [file.changed, report.*]
                    priority: 60
                    enabled: false
                    filter: {payload.path: reports/may.csv, payload.size: 3}
                    agent:
                      name: explore
                      prompt: Look at {{payload.path}}.
                      systemPrompt: Be brief.
                      includeToolCall: false
                      toolName: look
                  noted:
                    on: x
                    log: {}
                """);

        // then
        assertThat(read.getFirst())
                .isEqualTo(new Rule(
                        "reports",
                        read.getFirst().version(),
                        List.of(new TypePattern("file.changed"), new TypePattern("report.*")),
                        60,
                        false,
                        Map.of("payload.path", "reports/may.csv", "payload.size", "3"),
                        new Rule.AgentHandler("explore", "Look at {{payload.path}}.", "Be brief.", false, "look")));
        assertThat(read.getLast().handler()).isEqualTo(new Rule.Log());
        assertThat(read.getLast().priority()).isZero();
        assertThat(read.getLast().enabled()).isTrue();
        assertThat(read).extracting(Rule::version).allMatch(version -> version.matches("[0-9a-f]{12}"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            rulez: {}                                            | line 1: rulez: expected one of rules
            rules: 7                                             | line 1: rules: expected keys and values, found 7
            rules: {a: {log: {}}}                                | rules.a: expected types of events under on, found none
            rules: {a: {on: x}}                                  | rules.a: expected exactly one of agent, log and query, found 0
            rules: {a: {on: x, log: {}, agent: {}}}              | expected exactly one of agent, log and query, found 2
            rules: {a: {on: x*, log: {}}}                        | rules.a.on: expected the name of a type
            rules: {a: {on: TASK_COMPLETED, log: {}}}            | expected types outside the catalogue
            rules: {a: {on: user_query, agent: {}}}              | expected types outside the catalogue
            rules: {a: {on: x, query: {}}}                       | expected types outside the catalogue
            rules: {a: {on: x, log: {a: 1}}}                     | rules.a.log.a: expected nothing here
            rules: {a: {on: x, log: {}, priority: high}}         | rules.a.priority: expected a whole number
            rules: {a: {on: x, log: {}, priority: 1000001}}      | rules.a.priority: expected a whole number
            rules: {a: {on: x, log: {}, enabled: maybe}}         | rules.a.enabled: expected true or false
            rules: {a: {on: x, log: {}, filter: {p: [1]}}}       | rules.a.filter.p: expected a text, a number
            rules: {a: {on: x, agent: {promt: Hi}}}              | rules.a.agent.promt: expected one of
            rules: {a: {on: x, agent: {toolName: a b}}}          | rules.a.agent.toolName: expected 1 to 64 letters
            rules: {"a b": {on: x, log: {}}}                     | expected an id of 1 to 64 letters
            rules: [                                             | not YAML
            """)
    void shouldSayWhatIsWrong(String text, String words) {
        assertThatThrownBy(() -> RuleFile.read(text))
                .isInstanceOf(InvalidAgentException.class)
                .hasMessageContaining(words);
    }

    @Test
    void shouldNameTheLine() {
        assertThatThrownBy(() -> RuleFile.read("rules:\n  a:\n    on: x\n    log: {}\n    priority: no\n"))
                .hasMessageStartingWith("line 5: rules.a.priority: ");
    }

    @Test
    @DisplayName("F-231: rules come from files, which are followed while running")
    void shouldFollowTheFolder() throws IOException {
        // given
        RuleFolder looks = new RuleFolder(folder, RuleFile.builtIn(), rules, Duration.ofSeconds(1));
        Files.writeString(folder.resolve("a.yaml"), "rules:\n  orders:\n    on: order.*\n    log: {}\n");
        Files.writeString(folder.resolve("notes.txt"), "no rules");
        looks.look(true);
        List<String> first = ids();

        // when: one of its own is changed, a built-in one is put aside
        Files.writeString(
                folder.resolve("a.yaml"), "rules:\n  fallback:\n    on: '*'\n    enabled: false\n    log: {}\n");
        looks.look(false);
        List<String> halfWritten = ids();
        looks.look(false);

        // then
        assertThat(first).contains("orders", "fallback");
        assertThat(halfWritten).isEqualTo(first);
        assertThat(ids()).doesNotContain("orders").contains("fallback");
        assertThat(rules.current().match("anything", rule -> true))
                .hasValueSatisfying(rule -> assertThat(rule.enabled()).isFalse());
    }

    @Test
    void shouldLeaveTheRulesOfABadFileAsTheyWere() throws IOException {
        // given
        RuleFolder looks = new RuleFolder(folder, RuleFile.builtIn(), rules, Duration.ofSeconds(1));
        Files.writeString(folder.resolve("a.yaml"), "rules:\n  orders:\n    on: order.*\n    log: {}\n");
        Files.writeString(folder.resolve("b.yaml"), "rules:\n  stock:\n    on: stock.*\n    log: {}\n");
        looks.look(true);

        // when
        Files.writeString(folder.resolve("a.yaml"), "rules: [");
        Files.delete(folder.resolve("b.yaml"));
        looks.look(true);

        // then
        assertThat(ids()).contains("orders").doesNotContain("stock");
    }

    @Test
    void shouldNeedNoFolder() {
        // when
        new RuleFolder(folder.resolve("none"), RuleFile.builtIn(), rules, Duration.ofSeconds(1)).look(true);

        // then: what the registry began with
        assertThat(rules.current()).isEqualTo(RuleSet.NONE);
    }

    private List<String> ids() {
        return rules.current().rules().stream().map(Rule::id).toList();
    }
}
