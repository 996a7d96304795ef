package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class KnownEventTypeTest {

    /** The catalogue as released. A line is added for a new type and never changed. */
    private static final String CATALOGUE = """
            F-017  | SYSTEM_STARTED        |   0 | SYSTEM
            F-018  | SYSTEM_SHUTTING_DOWN  |   1 | SYSTEM
            DESIGN | TASK_CANCEL_REQUESTED |  50 | SYSTEM
            F-019  | HEARTBEAT             |  90 | SYSTEM
            F-020  | MESSAGE_RECEIVED      | 100 | EXTERNAL
            F-021  | WEBHOOK_TRIGGERED     | 110 | EXTERNAL
            F-022  | SCHEDULE_FIRED        | 120 | EXTERNAL
            F-023  | TASK_CREATED          | 200 | TASK
            F-024  | TASK_STATE_CHANGED    | 210 | TASK
            F-025  | TASK_COMPLETED        | 220 | TASK
            F-026  | TASK_FAILED           | 230 | TASK
            F-027  | TASK_SUSPENDED        | 240 | TASK
            F-028  | TASK_RESUMED          | 250 | TASK
            F-029  | TASK_NOTIFY           | 260 | TASK
            DESIGN | APPROVAL_REQUESTED    | 270 | TASK
            DESIGN | APPROVAL_DECIDED      | 275 | TASK
            DESIGN | TASK_CANCELLED        | 280 | TASK
            F-030  | REASON_DONE           | 300 | COGNITIVE
            C.7    | CONTEXT_COMPACTED     | 305 | COGNITIVE
            DESIGN | MODEL_CALL_REQUESTED  | 310 | COGNITIVE
            DESIGN | MODEL_CALL_FAILED     | 320 | COGNITIVE
            DESIGN | MODEL_CALL_ABANDONED  | 325 | COGNITIVE
            F-031  | STEP_COMPLETED        | 335 | COGNITIVE
            F-032  | REFLECTION_COMPLETE   | 345 | COGNITIVE
            DESIGN | REFLECTION_FAILED     | 347 | COGNITIVE
            DESIGN | FORGET_REQUESTED      | 60  | SYSTEM
            DESIGN | TASKS_FORGOTTEN       | 290 | TASK
            DESIGN | MEMORY_FORGOTTEN      | 348 | COGNITIVE
            F-033  | NEED_MORE_INFO        | 350 | COGNITIVE
            F-034  | TOOL_CALL_REQUESTED   | 400 | TOOL
            F-035  | TOOL_CALL_COMPLETED   | 410 | TOOL
            F-036  | TOOL_CALL_FAILED      | 420 | TOOL
            DESIGN | REFLECTION_REQUESTED  | 500 | BACKGROUND
            issue 6 | MEMORY_EDIT_REQUESTED | 505 | BACKGROUND
            DESIGN | RAG_INGEST            | 510 | BACKGROUND
            DESIGN | ENTITY_EXTRACT        | 520 | BACKGROUND
            DESIGN | NOTIFICATION_REQUESTED | 530 | BACKGROUND
            """;

    @ParameterizedTest(name = "{0}: {1} = {2}")
    @CsvSource(delimiter = '|', textBlock = CATALOGUE)
    @DisplayName("F-017 to F-037: name, code and segment of every type")
    void shouldHaveTheCodeOfTheSpecificationAndLieInItsSegment(
            String statement, KnownEventType type, int code, Segment segment) {
        assertThat(statement).isNotBlank();
        assertThat(type.code()).isEqualTo(code);
        assertThat(type.segment()).isEqualTo(segment);
        assertThat(EventType.of(type.wireName())).isSameAs(type);
    }

    @Test
    void shouldBePinnedWhole() {
        // given
        Set<String> pinned =
                CATALOGUE.lines().map(line -> line.split("\\|", -1)[1].strip()).collect(Collectors.toUnmodifiableSet());

        // then
        assertThat(Arrays.stream(KnownEventType.values()).map(KnownEventType::wireName))
                .containsExactlyInAnyOrderElementsOf(pinned);
    }

    @Test
    @DisplayName("F-008: a code names one type, since it decides the order")
    void shouldHaveNoCodeTwice() {
        assertThat(Arrays.stream(KnownEventType.values()).map(KnownEventType::code))
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldHaveNoNameOrAliasTwice() {
        // given
        Set<String> seen = new HashSet<>();

        // then
        assertThat(Arrays.stream(KnownEventType.values())
                        .flatMap(type -> java.util.stream.Stream.concat(
                                java.util.stream.Stream.of(type.wireName()), type.aliases().stream())))
                .allSatisfy(name -> assertThat(seen.add(name)).as(name).isTrue());
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayInOneSentenceWhatItMeans(KnownEventType type) {
        assertThat(type.summary()).endsWith(".").hasSizeBetween(15, 160);
    }

    @Test
    @DisplayName("F-061, F-062: what drives a task may come from anyone")
    void shouldTakeFromOutsideWhatDrivesATask() {
        assertThat(EnumSet.of(
                        KnownEventType.MESSAGE_RECEIVED,
                        KnownEventType.WEBHOOK_TRIGGERED,
                        KnownEventType.SCHEDULE_FIRED,
                        KnownEventType.TASK_CANCEL_REQUESTED,
                        KnownEventType.TASK_SUSPENDED,
                        KnownEventType.TASK_RESUMED,
                        KnownEventType.REASON_DONE,
                        KnownEventType.NEED_MORE_INFO,
                        KnownEventType.CONTEXT_COMPACTED,
                        KnownEventType.MODEL_CALL_FAILED,
                        KnownEventType.TOOL_CALL_COMPLETED,
                        KnownEventType.TOOL_CALL_FAILED))
                .noneMatch(KnownEventType::machineOnly);
    }

    @Test
    void shouldTakeFromNobodyWhatOnlyTheMachineKnows() {
        assertThat(EnumSet.of(
                        KnownEventType.TASK_CREATED,
                        KnownEventType.TASK_STATE_CHANGED,
                        KnownEventType.TASK_COMPLETED,
                        KnownEventType.TASK_CANCELLED,
                        KnownEventType.MODEL_CALL_REQUESTED,
                        KnownEventType.STEP_COMPLETED,
                        KnownEventType.TOOL_CALL_REQUESTED,
                        KnownEventType.MEMORY_EDIT_REQUESTED,
                        KnownEventType.REFLECTION_REQUESTED))
                .allMatch(KnownEventType::machineOnly);
    }

    @ParameterizedTest
    @ValueSource(strings = {"NEW_MESSAGE", "user_query"})
    @DisplayName("F-182, F-265: what the other designs call a message is a MESSAGE_RECEIVED")
    void shouldTakeAliases(String alias) {
        assertThat(EventType.of(alias)).isSameAs(KnownEventType.MESSAGE_RECEIVED);
        assertThat(EventType.of(alias).wireName()).isEqualTo("MESSAGE_RECEIVED");
    }

    @ParameterizedTest
    @ValueSource(strings = {"order.placed", "message_received", "user_query ", "x"})
    @DisplayName("F-184: any other name is a type too, behind the known external ones")
    void shouldTakeAnyOtherName(String name) {
        // when
        EventType type = EventType.of(name);

        // then
        assertThat(type).isEqualTo(new CustomEventType(name)).hasToString(name);
        assertThat(type.code()).isEqualTo(190);
        assertThat(type.segment()).isEqualTo(Segment.EXTERNAL);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "session.created",
                "session.updated",
                "session.deleted",
                "background_task.completed",
                "background_task.failed",
                "background_task.progress",
                "background_task.timeout",
                "background_task.stopped",
                "tool.executed",
                "tool.error",
                "environment.switched",
                "timer.fired",
                "file.changed",
                "webhook.received"
            })
    @DisplayName("F-182, F-184, F-252: what happens around agents has names of its own, and codes as any other name")
    void shouldKnowTheEnvironment(String name) {
        // when
        EventType type = EventType.of(name);

        // then
        assertThat(type).isInstanceOf(EnvironmentType.class).hasToString(name);
        assertThat(type.wireName()).isEqualTo(name);
        assertThat(type.isOpen()).isTrue();
        assertThat(type.code()).isEqualTo(CustomEventType.CODE);
    }

    @Test
    void shouldTakeATypeNameOfUpTo256Characters() {
        assertThat(EventType.of("x".repeat(256)).wireName()).hasSize(256);
        assertThatThrownBy(() -> EventType.of("x".repeat(257))).hasMessageContaining("expected 1 to 256");
        assertThatThrownBy(() -> EventType.of("  ")).hasMessageContaining("expected 1 to 256");
        assertThatThrownBy(() -> EventType.of("file\nchanged")).hasMessageContaining("U+000A at index 4");
    }

    @ParameterizedTest
    @CsvSource({
        "-1, SYSTEM",
        "0, SYSTEM",
        "99, SYSTEM",
        "100, EXTERNAL",
        "199, EXTERNAL",
        "200, TASK",
        "299, TASK",
        "300, COGNITIVE",
        "399, COGNITIVE",
        "400, TOOL",
        "499, TOOL",
        "500, BACKGROUND",
        "10000, BACKGROUND",
        "2147483647, BACKGROUND"
    })
    @DisplayName("F-037: where one segment ends and the next begins")
    void shouldFindTheSegmentOfACode(int code, Segment segment) {
        assertThat(Segment.ofCode(code)).isEqualTo(segment);
    }

    @Test
    @DisplayName("F-038: the segments are ranked, the system's first")
    void shouldRankTheSegments() {
        assertThat(Arrays.stream(Segment.values()).map(Segment::firstCode)).isSorted();
        assertThat(Segment.values()).startsWith(Segment.SYSTEM);
        assertThat(Arrays.stream(Segment.values()))
                .allSatisfy(segment -> assertThat(segment.laneSuffix())
                        .isEqualTo(segment.name().toLowerCase(Locale.ROOT)));
    }
}
