package dev.millrace.llm.scripted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ScriptTest {

    static Stream<Arguments> badScripts() {
        return Stream.of(
                Arguments.of("", "s.yaml, line 1: expected a mapping with rules, found an empty file"),
                Arguments.of("- a", "s.yaml, line 1: the script: expected a mapping, found a list"),
                Arguments.of("model: x", "s.yaml, line 1: rules: expected a list of rules, found nothing"),
                Arguments.of("rules: 7", "s.yaml, line 1: rules: expected a list, found the number 7"),
                Arguments.of(
                        "rule: []",
                        "s.yaml, line 1: the script: unknown key \"rule\", expected one of callLog, fallback, "
                                + "latencyMs, model, rules"),
                Arguments.of("rules:\n  - {text: a}\n  - {txt: b}", "line 3: rules[1]: unknown key \"txt\""),
                Arguments.of(
                        "rules:\n  - user: x\n",
                        "s.yaml, line 2: rules[0]: expected text, calls or fail, found none of them"),
                Arguments.of(
                        "rules:\n  - text: 12\n",
                        "s.yaml, line 2: rules[0].text: expected a text, found the number 12 (put it in quotes)"),
                Arguments.of(
                        "rules:\n  - text: a\n    user: '(x'\n",
                        "s.yaml, line 3: rules[0].user: expected a regular expression (Java), found one with: "),
                Arguments.of(
                        "rules:\n  - user: x\n    text: '{{user.1}}'\n",
                        "s.yaml, line 3: rules[0].text: expected {{user}}, "),
                Arguments.of("rules:\n  - text: '{{usr}}'\n", "found {{usr}}"),
                Arguments.of("rules:\n  - text: '{{results.find}}'\n", "found {{results.find}}"),
                Arguments.of("rules:\n  - text: \"{{user's}}\"\n", "found {{user's}}"),
                Arguments.of(
                        "rules:\n  - text: a\n  - text: '{{user | otherwise x}}'\n",
                        "s.yaml, line 3: rules[1].text: expected otherwise \"…\" and then a bar or }}, found otherwise x"),
                Arguments.of("rules:\n  - text: '{{user | otherwise \"x\" y}}'\n", "found otherwise \"x\" y"),
                Arguments.of(
                        "rules:\n  - calls:\n      - tool: t\n        arguments:\n          n: '{{user | otherwise}}'\n",
                        "s.yaml, line 5: rules[0].calls[0].arguments.n: expected otherwise \"…\""),
                Arguments.of(
                        "rules:\n  - {failed: [1], text: a}\n",
                        "line 2: rules[0].failed: expected true or false, or a list of texts, found a list"),
                Arguments.of(
                        "rules:\n  - {after: [~], text: a}\n",
                        "line 2: rules[0].after[0]: expected a text, found nothing"),
                Arguments.of(
                        "rules:\n  - {calls: [~]}\n", "line 2: rules[0].calls[0]: expected a mapping, found nothing"),
                Arguments.of("rules: [~]\n", "line 1: rules[0]: expected a mapping, found nothing"),
                Arguments.of("rules: [{user: 7, text: a}]\n", "rules[0].user: expected a text, found the number 7"),
                Arguments.of("rules: [{rounds: '7', text: a}]\n", "rules[0].rounds: expected a whole number"),
                Arguments.of("rules: [{literal: 1, text: a}]\n", "rules[0].literal: expected true or false"),
                Arguments.of(
                        "rules: [{calls: [{tool: t, arguments: a}]}]\n",
                        "arguments: expected a mapping, found the text"),
                Arguments.of(
                        "rules:\n  - text: a\n    latencyMs: -1\n",
                        "s.yaml, line 3: rules[0].latencyMs: expected a whole number from 0 to 2147483647, found the "
                                + "number -1"),
                Arguments.of(
                        "rules:\n  - text: a\n    failed: maybe\n",
                        "s.yaml, line 3: rules[0].failed: expected true or false, or a list of texts, found the text \"maybe\""),
                Arguments.of(
                        "rules:\n  - fail: {code: oops}\n",
                        "s.yaml, line 2: rules[0].fail.code: expected one of rate_limited, "),
                Arguments.of(
                        "rules:\n  - fail: {code: timeout}\n    text: a\n",
                        "without times it fails for ever, so the text or calls beside it are never reached"),
                Arguments.of(
                        "rules:\n  - fail: {code: timeout, times: 1}\n",
                        "with times it ends, so there must be text or calls beside it"),
                Arguments.of(
                        "rules:\n  - calls:\n      - arguments: {}\n",
                        "s.yaml, line 3: rules[0].calls[0].tool: expected a text, found nothing"),
                Arguments.of(
                        "rules:\n  - calls: [{tool: t, arguments: {}, malformedArguments: x}]\n",
                        "rules[0].calls[0].malformedArguments: there are arguments already"),
                Arguments.of(
                        "rules:\n  - steps: []\n",
                        "s.yaml, line 2: rules[0].steps: expected at least one reply, found none"),
                Arguments.of(
                        "rules:\n  - text: a\n    steps: [{text: b}]\n",
                        "s.yaml, line 2: rules[0].text: a rule with steps says this in its steps"),
                Arguments.of(
                        "rules:\n  - rounds: 1\n    steps: [{text: b}]\n",
                        "s.yaml, line 2: rules[0].rounds: a rule with steps counts the rounds itself"),
                Arguments.of(
                        "rules:\n  - text: a\n    usage: {inputTokens: 1}\n", "expected inputTokens and outputTokens"),
                Arguments.of(
                        "rules:\n  - {name: a, text: a}\n  - {name: a, text: b}\n",
                        "s.yaml, line 3: rules[1].name: \"a\" is taken"),
                Arguments.of("rules:\n  - text: a\n    text: b\n", "s.yaml, line 3: the key \"text\" is there twice"),
                Arguments.of(
                        "rules:\n  - text: [a\n",
                        "s.yaml, line 2: not YAML: while parsing a flow sequence: expected ',' or ']'"),
                Arguments.of("rules: &r []\nfallback: *r\n", "s.yaml, line 2: aliases are not supported"),
                Arguments.of(
                        "rules: []\n---\nrules: []\n", "s.yaml, line 3: expected one document, found a second one"));
    }

    @ParameterizedTest
    @MethodSource("badScripts")
    void shouldSayWhereAScriptIsWrongAndWhatIsExpected(String yaml, String message) {
        // when
        InvalidScriptException problem =
                catchThrowableOfType(InvalidScriptException.class, () -> Script.parse("s.yaml", yaml));

        // then
        assertThat(problem).hasMessageContaining(message);
    }

    @Test
    void shouldLoadAFile(@TempDir Path folder) throws Exception {
        // given
        Path file = Files.writeString(folder.resolve("s.yaml"), "model: mine\nrules: [{text: a}]");

        // when
        Script script = Script.load(file);

        // then
        assertThat(script.modelName()).isEqualTo("mine");
        assertThat(script.source()).isEqualTo(file.toString());
    }

    @Test
    void shouldSayThatAFileIsMissing(@TempDir Path folder) {
        // given
        Path file = folder.resolve("none.yaml");

        // when
        InvalidScriptException problem = catchThrowableOfType(InvalidScriptException.class, () -> Script.load(file));

        // then
        assertThat(problem).hasMessage(file + ": there is no such file");
    }

    @Test
    void shouldReadEveryExampleOfTheDocumentation() throws Exception {
        // given
        Path docs = Path.of("..", "docs", "scripted-model.md");
        String[] blocks = Files.readString(docs).split("```yaml\n", -1);

        // when
        int read = 0;
        for (int i = 1; i < blocks.length; i++) {
            Script.parse(docs + ", example " + i, blocks[i].substring(0, blocks[i].indexOf("```")));
            read++;
        }

        // then
        assertThat(read).isGreaterThan(3);
    }
}
