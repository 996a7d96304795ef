package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.ToolDefinition.Approval;
import dev.millrace.schemas.ToolDefinition.Retry;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ToolDefinitionTest {

    @Test
    void shouldEqualItselfReadBack() throws MalformedEventException {
        // given
        ToolDefinition definition = new ToolDefinition(
                "read_file",
                "Reads a file.",
                JsonObject.of(Map.of(
                        "type",
                        "object",
                        "required",
                        List.of("path"),
                        "properties",
                        Map.of("max", Map.of("minimum", 1L)))),
                "tool",
                5_000,
                SideEffects.READ_ONLY);

        // then
        assertThat(ToolDefinition.fromJson(definition.toJson())).isEqualTo(definition);
        assertThat(ToolDefinition.key("read_file")).isEqualTo("tool/read_file");
    }

    @Test
    void shouldAssumeTheWorstOfAToolThatSaysLittle() throws MalformedEventException {
        // when
        ToolDefinition definition = read("{\"name\": \"a\", \"description\": \"b\", \"toolset\": \"c\", \"later\": 1}");

        // then
        assertThat(definition)
                .isEqualTo(new ToolDefinition(
                        "a", "b", JsonObject.of(Map.of("type", "object")), "c", 30_000, SideEffects.DESTRUCTIVE));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            "never"
            "always"
            {"when": "params.amount > 100"}
            """)
    void shouldKeepWhoHasToAgree(String approval) throws MalformedEventException {
        // given
        ToolDefinition definition = read("{\"name\": \"a\", \"description\": \"b\", \"toolset\": \"c\", \"approval\": "
                + approval + ", \"approvalExpiryMs\": 60000, \"onExpiry\": \"approve\"}");

        // when
        ToolDefinition again = ToolDefinition.fromJson(definition.toJson());

        // then
        assertThat(again).isEqualTo(definition);
        assertThat(Json.readObject(again.toJson()))
                .containsEntry(
                        "approval",
                        Json.readObject(("{\"it\": " + approval + "}").getBytes(StandardCharsets.UTF_8))
                                .get("it"))
                .containsEntry("approvalExpiryMs", 60_000)
                .containsEntry("onExpiry", "approve");
    }

    @Test
    @DisplayName("a processor says which events it is given, by any name of their types")
    void shouldKeepWhatAProcessorIsGiven() throws MalformedEventException {
        // given
        ToolDefinition definition = read("{\"name\": \"a\", \"description\": \"b\", \"toolset\": \"c\","
                + " \"processes\": {\"types\": [\"NEW_MESSAGE\", \"order.placed\"], \"required\": true}}");

        // when
        ToolDefinition again = ToolDefinition.fromJson(definition.toJson());

        // then
        assertThat(again).isEqualTo(definition);
        ToolDefinition.Processes processes = Objects.requireNonNull(again.processes());
        assertThat(processes.required()).isTrue();
        assertThat(processes.order()).isZero();
        assertThat(processes.of(KnownEventType.MESSAGE_RECEIVED)).isTrue();
        assertThat(processes.of(EventType.of("user_query"))).isTrue();
        assertThat(processes.of(EventType.of("order.placed"))).isTrue();
        assertThat(processes.of(KnownEventType.SCHEDULE_FIRED)).isFalse();
        assertThat(new ToolDefinition.Processes(List.of("*"), 0, false).of(KnownEventType.TASK_CANCEL_REQUESTED))
                .as("nobody stands before a cancel")
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {}                                   | expected 1 to 32 types, found 0
            {"types": []}                        | expected 1 to 32 types, found 0
            {"types": ["TASK_CANCEL_REQUESTED"]} | one that starts tasks
            """)
    void shouldRefuseAProcessorOfNothing(String processes, String problem) {
        assertThatThrownBy(() -> read("{\"name\": \"a\", \"description\": \"b\", \"toolset\": \"c\","
                        + " \"processes\": " + processes + "}"))
                .isInstanceOf(MalformedEventException.class)
                .hasMessageContaining(problem.replace("one that starts tasks", "a type that starts tasks"));
    }

    @Test
    void shouldKeepHowOftenToTryAgain() throws MalformedEventException {
        // given
        ToolDefinition definition = new ToolDefinition("a", "b", JsonObject.empty(), "c", 1, SideEffects.READ_ONLY)
                .withRetry(new Retry(3, 250))
                .withApproval(new Approval.Always());

        // when
        ToolDefinition again = ToolDefinition.fromJson(definition.toJson());

        // then
        assertThat(again).isEqualTo(definition);
        assertThat(again.retry()).isEqualTo(new Retry(3, 250));
        assertThat(again.approval()).isEqualTo(new Approval.Always());
    }

    @Test
    void shouldPauseAsLongAsOthersIfARetrySaysNoDelay() throws MalformedEventException {
        // when
        ToolDefinition definition =
                read("{\"name\": \"a\", \"description\": \"b\", \"toolset\": \"c\", \"retry\": {\"maxAttempts\": 2}}");

        // then
        assertThat(definition.retry()).isEqualTo(new Retry(2, 1_000));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            null                                                            | found null
            []                                                              | expected a tool definition
            {"name": "a"                                                    | expected a tool definition
            {"name": "a", "toolset": "c"}                                   | description: expected a text, found none
            {"name": "a b", "description": "b", "toolset": "c"}             | tool name: expected 1 to 64 letters
            {"name": "a", "description": "b", "toolset": "c/d"}             | toolset of a: expected 1 to 64 letters
            {"name": "a", "description": "b", "toolset": "c", "timeoutMs": 0} | timeoutMs of a: expected 1 or more, found 0
            {"name": "a", "description": "b", "toolset": "c", "sideEffects": "NONE"} | not one of the values accepted
            {"name": "a", "description": "b", "toolset": "c", "approval": "maybe"} | expected "never", "always" or {"when": expression}, found "maybe"
            {"name": "a", "description": "b", "toolset": "c", "approval": {"if": "x"}} | expected "never", "always" or {"when": expression}
            {"name": "a", "description": "b", "toolset": "c", "approval": {"when": " "}} | approval.when: expected 1 to 1000 characters
            {"name": "a", "description": "b", "toolset": "c", "approvalExpiryMs": 0} | approvalExpiryMs of a: expected 1 or more, found 0
            {"name": "a", "description": "b", "toolset": "c", "onExpiry": "wait"} | not one of the values accepted
            {"name": "a", "description": "b", "toolset": "c", "retry": {"maxAttempts": 21}} | retry.maxAttempts: expected 1 to 20, found 21
            {"name": "a", "description": "b", "toolset": "c", "retry": {"maxAttempts": 0}} | retry.maxAttempts: expected 1 to 20, found 0
            {"name": "a", "description": "b", "toolset": "c", "retry": {"maxAttempts": 1, "initialDelayMs": -1}} | retry.initialDelayMs: expected 0 or more, found -1
            {"name": "a", "description": "b", "toolset": "c", "retry": {}} | retry.maxAttempts: expected a number, found none
            """)
    void shouldSayWhatIsWrong(String json, String reason) {
        assertThatThrownBy(() -> read(json))
                .isInstanceOfSatisfying(
                        MalformedEventException.class, e -> assertThat(e.code()).isEqualTo("bad_definition"))
                .hasMessageContaining(reason);
    }

    private static ToolDefinition read(String json) throws MalformedEventException {
        return ToolDefinition.fromJson(json.getBytes(StandardCharsets.UTF_8));
    }
}
