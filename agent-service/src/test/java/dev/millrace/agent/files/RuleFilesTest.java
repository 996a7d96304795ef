package dev.millrace.agent.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.expressions.Expression;
import dev.millrace.agent.rules.Arguments;
import dev.millrace.agent.rules.Rule;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.rules.TypePattern;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
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

    private final Rules rules = new Rules(RuleFile.builtIn(), Rules.Bounds.DEFAULT);

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
                    when: payload.size > 2
                    debounce: {quiet: 2s, key: "{{payload.path}}"}
                    agent:
                      name: explore
                      prompt: Look at {{payload.path}}.
                      systemPrompt: Be brief.
                      includeToolCall: false
                      toolName: look
                      retries: 0
                  told:
                    on: x
                    call:
                      tool: http_post
                      arguments: {url: "{{payload.url}}", tries: 3}
                      agent: explore
                  noted:
                    on: x
                    log: {}
                """);

        // then
        assertThat(read.getFirst())
                .isEqualTo(new Rule(
                        "reports",
                        read.getFirst().source(),
                        List.of(new TypePattern("file.changed"), new TypePattern("report.*")),
                        60,
                        false,
                        new Rule.Terms(
                                List.of(
                                        Rule.Wanted.at("payload.path", "reports/may.csv"),
                                        Rule.Wanted.at("payload.size", "3")),
                                Expression.compile(Rule.NAMES, "payload.size > 2"),
                                new Rule.Debounce(2_000, new InputTemplate("{{payload.path}}"))),
                        new Rule.AgentHandler(
                                "explore",
                                new InputTemplate("Look at {{payload.path}}."),
                                new InputTemplate("Be brief."),
                                false,
                                "look",
                                0)));
        assertThat(read.get(1).handler())
                .isEqualTo(new Rule.CallHandler(
                        "http_post",
                        Arguments.of(JsonObject.of(Map.of("url", "{{payload.url}}", "tries", 3))),
                        "explore"));
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
            rules: {a: {on: x}}                                  | rules.a: expected exactly one of agent, call, log and query, found 0
            rules: {a: {on: x, log: {}, agent: {}}}              | expected exactly one of agent, call, log and query, found 2
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
            rules: {a: {on: x, agent: {retries: 4}}}             | rules.a.agent.retries: expected a whole number, 0 to 3, found 4
            rules: {a: {on: x, log: {}, when: "payload.a >"}}    | rules.a.when: Syntax error
            rules: {a: {on: x, log: {}, when: "pay.a > 1"}}      | rules.a.when: undeclared reference to 'pay' (in container '') (line 1, column 1)
            rules: {a: {on: x, log: {}, when: "size(event_id)"}}       | rules.a.when: expected an expression that is true or false
            rules: {a: {on: x, log: {}, debounce: soon}}         | rules.a.debounce: expected a time
            rules: {a: {on: x, log: {}, debounce: 61m}}          | rules.a.debounce: expected a time of at most 1h
            rules: {a: {on: x, log: {}, debounce: {key: x}}}     | rules.a.debounce.quiet: expected a time of at most 1h
            rules: {a: {on: x, call: {}}}                        | rules.a.call.tool: expected 1 to 64 letters
            rules: {a: {on: x, call: {tool: t, args: {}}}}       | rules.a.call.args: expected one of
            rules: {a: {on: x, call: {tool: t, arguments: 3}}}   | rules.a.call.arguments: expected keys and values
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
        RuleFolder looks = new RuleFolder(folder, rules, Duration.ofSeconds(1));
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
        RuleFolder looks = new RuleFolder(folder, rules, Duration.ofSeconds(1));
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
        new RuleFolder(folder.resolve("none"), rules, Duration.ofSeconds(1)).look(true);

        // then: what the registry began with
        assertThat(rules.current()).isEqualTo(RuleFile.builtIn());
    }

    @Test
    @DisplayName(
            "a definition stands above a file, and a file above what is built in; taken back, what was there counts")
    void shouldPutDefinitionsOnTop() throws InvalidAgentException, MalformedEventException {
        // given
        RuleRecords records = new RuleRecords(rules);
        rules.useFiles(RuleFile.read("rules: {fallback: {on: '*', log: {}}, own: {on: x, log: {}}}"));

        // when
        Rules.Origin file = rules.origin("fallback");
        records.take("fallback", "{\"on\":\"*\",\"priority\":7,\"log\":{}}".getBytes(StandardCharsets.UTF_8));
        int defined = priority("fallback");
        Rules.Origin definition = rules.origin("fallback");
        records.take("fallback", null);

        // then
        assertThat(List.of(file, definition, rules.origin("fallback"), rules.origin("timer")))
                .containsExactly(Rules.Origin.FILE, Rules.Origin.DEFINITION, Rules.Origin.FILE, Rules.Origin.BUILT_IN);
        assertThat(defined).isEqualTo(7);
        assertThat(priority("fallback")).isZero();
        assertThatThrownBy(() -> records.take("own", "{\"on\":\"y\"}".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(MalformedEventException.class)
                .hasMessageContaining("own: expected exactly one of agent, call, log and query, found 0");
        records.beginAnew();
        assertThat(rules.defined()).isEmpty();
    }

    @Test
    void shouldKeepABookOfDefinitions() throws InterruptedException {
        // given
        Map<String, String> topic = new HashMap<>();
        RuleBook book = new RuleBook(rules, (key, value) -> {
            topic.put(key, value == null ? "" : new String(value, StandardCharsets.UTF_8));
            return !key.endsWith("/lost");
        });
        JsonObject fields = JsonObject.of(Map.of("on", "x", "log", Map.of()));

        // when // then
        assertThat(book.put("noted", fields)).isInstanceOfSatisfying(RuleBook.Done.class, done -> {
            assertThat(done.isNew()).isTrue();
            assertThat(done.view().source()).isEqualTo("definition");
        });
        assertThat(topic.remove("rule/noted")).contains("\"log\":{}");
        assertThat(book.put("noted", fields))
                .isInstanceOfSatisfying(
                        RuleBook.Done.class, done -> assertThat(done.isNew()).isFalse());
        assertThat(topic).isEmpty();
        assertThat(book.put("noted", JsonObject.of(Map.of("on", "x*", "log", Map.of()))))
                .isEqualTo(new RuleBook.Refused("noted.on: expected the name of a type, a beginning such as session.*,"
                        + " or *, found \"x*\""));
        assertThat(book.put("a b", fields)).isInstanceOf(RuleBook.Refused.class);
        assertThat(book.put(
                        "long",
                        JsonObject.of(Map.of("on", "x", "agent", Map.of("prompt", "x".repeat(RuleBook.MAX_CHARS))))))
                .isInstanceOf(RuleBook.Refused.class);
        assertThat(book.put("lost", fields)).isEqualTo(new RuleBook.NotStored());
        assertThat(book.remove("timer")).isEqualTo(new RuleBook.Unknown());
        assertThat(book.remove("noted")).isInstanceOf(RuleBook.Done.class);
        assertThat(topic).containsEntry("rule/noted", "");
        assertThat(ids()).doesNotContain("noted");
    }

    @Test
    void shouldTakeSoManyDefinitionsAndNoMore() throws InterruptedException {
        // given
        RuleBook book = new RuleBook(rules, (key, value) -> true);
        JsonObject fields = JsonObject.of(Map.of("on", "x", "log", Map.of()));
        for (int i = 0; i < RuleBook.MAX_DEFINED; i++) {
            assertThat(book.put("r" + i, fields)).isInstanceOf(RuleBook.Done.class);
        }

        // when // then
        assertThat(book.put("one-more", fields)).isInstanceOf(RuleBook.Refused.class);
        assertThat(book.put("r0", JsonObject.of(Map.of("on", "y", "log", Map.of()))))
                .isInstanceOf(RuleBook.Done.class);
    }

    private int priority(String id) {
        return rules.current().rules().stream()
                .filter(rule -> rule.id().equals(id))
                .findFirst()
                .orElseThrow()
                .priority();
    }

    private List<String> ids() {
        return rules.current().rules().stream().map(Rule::id).toList();
    }
}
