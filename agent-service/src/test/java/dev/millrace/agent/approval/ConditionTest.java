package dev.millrace.agent.approval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.approval.Condition.Call;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConditionTest {

    @ParameterizedTest(name = "{0} of {1} is {2}")
    @CsvSource(delimiter = '|', textBlock = """
            args.path.startsWith("/etc")                 | {"path":"/etc/passwd"}            | true
            args.path.startsWith("/etc")                 | {"path":"notes.txt"}              | false
            !args.path.matches("^notes/[a-z]+[.]md$")    | {"path":"notes/today.md"}         | false
            !args.path.matches("^notes/[a-z]+[.]md$")    | {"path":"notes/../x.md"}          | true
            args.count > 10                              | {"count":11}                      | true
            args.count > 10                              | {"count":10}                      | false
            args.count > 10                              | {"count":10.5}                    | true
            has(args.force) && args.force                | {}                                | false
            has(args.force) && args.force                | {"force":true}                    | true
            args.to.exists(x, x.endsWith("@example.com"))| {"to":["a@b.c","d@example.com"]}  | true
            size(args.body) > 3                          | {"body":"1234"}                   | true
            args.deep.er["key"] == "v"                   | {"deep":{"er":{"key":"v"}}}       | true
            tool == "http_post" && agent != "plan"       | {}                                | true
            tenant == "default"                          | {}                                | false
            args.big > 1e300                             | {"big":1e301}                     | true
            "x" in args                                  | {"x":null}                        | true
            """)
    @DisplayName("a condition decides by the arguments")
    void shouldDecideByArguments(String expression, String arguments, boolean holds) throws Exception {
        assertThat(Condition.compile(expression).holds(call(arguments))).isEqualTo(holds);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "args.path.startsWith(",
                "args.path.startsWith(\"a\"",
                "nobody.knows == 1",
                "args.path.nosuch(1)",
                "1 + 1",
                "\"text\"",
                "tool + 1 == 2"
            })
    @DisplayName("a bad expression is an error that says where")
    void shouldRefuseWhatIsNoCondition(String expression) {
        assertThatThrownBy(() -> Condition.compile(expression))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .isNotBlank();
    }

    @ParameterizedTest
    @ValueSource(strings = {"args.path.startsWith(\"a\")", "args.path", "args.count / 0 == 1", "args.other == 1"})
    @DisplayName("X-37: what cannot be evaluated has no answer")
    void shouldHaveNoAnswerToWhatCannotBeEvaluated(String expression) {
        assertThatThrownBy(() -> Condition.compile(expression).holds(call("{\"path\":7,\"count\":1}")))
                .isInstanceOf(Condition.UndecidedException.class);
    }

    @ParameterizedTest(name = "{0} of {1}")
    @CsvSource(delimiter = '|', textBlock = """
            args.amount > 100             | {"amount":"59.90"}   | amount is a text ("59.90") (
            args.amount > 100             | {}                   | amount is not there (
            args.a.b > 1                  | {"a":{"b":[1]}}      | a.b is a list (
            args.a["b"] > 1               | {"a":{"b":{}}}       | a.b is an object (
            args.a > 1 && args.a > 2      | {"a":null}           | a is null (
            args.a.startsWith("x")        | {"a":7}              | a is the number 7 (
            args.flag > 1                 | {"flag":true}        | flag is true (
            args.exists(x, x != "") && 1/0 == 1 | {"y":2}          | expected true or false, found divi
            args.a                        | {"a":"\\u001b[2Jx"} | a is a text ("\\u001B[2Jx") (expected true or false, found
            """)
    @DisplayName("what has no answer says what the arguments are that it looks at")
    void shouldSayWhatTheArgumentsAre(String expression, String arguments, String words) throws Exception {
        Condition condition = Condition.compile(expression);
        Call call = call(arguments);

        assertThatExceptionOfType(Condition.UndecidedException.class)
                .isThrownBy(() -> condition.holds(call))
                .satisfies(e -> assertThat(e.words()).startsWith(words).doesNotContain("\u001b"))
                .satisfies(e -> assertThat(e.getMessage()).as("what is logged").doesNotContain("59.90"));
    }

    @Test
    @DisplayName("X-37: an evaluation that takes too many steps has no answer, and soon")
    void shouldLimitSteps() {
        List<Integer> numbers = IntStream.range(0, 20_000).boxed().toList();
        Condition condition = Condition.compile("args.list.all(a, args.list.all(b, args.list.all(c, a + b + c >= 0)))");
        long before = System.nanoTime();
        assertThatThrownBy(() -> condition.holds(new Call("a", "n", "t", JsonObject.of(Map.of("list", numbers)))))
                .isInstanceOf(Condition.UndecidedException.class)
                .hasMessageContaining("steps");
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    @DisplayName("X-37: arguments are looked at up to their limit, and no further")
    void shouldLimitArguments() throws Exception {
        Condition condition = Condition.compile("size(args.t) > 0");
        String text = String.join("", Collections.nCopies(Condition.MAX_ARGUMENT_CHARS - 3, "x"));
        assertThat(condition.holds(new Call("a", "n", "t", JsonObject.of(Map.of("t", text)))))
                .isTrue();
        assertThatThrownBy(() -> condition.holds(new Call("a", "n", "t", JsonObject.of(Map.of("t", text + "x")))))
                .isInstanceOf(Condition.UndecidedException.class)
                .hasMessage("expected arguments of at most 100000 characters, found 100001");
    }

    private static Call call(String arguments) throws MalformedEventException {
        return new Call(
                "general",
                "acme",
                "http_post",
                JsonObject.of(Json.readObject(arguments.getBytes(StandardCharsets.UTF_8))));
    }
}
