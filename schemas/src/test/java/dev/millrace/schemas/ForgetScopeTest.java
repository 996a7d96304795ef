package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.ForgetScope.Kind;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ForgetScopeTest {

    private static Event request(Map<String, @Nullable Object> payload) {
        return Event.root("f1", KnownEventType.FORGET_REQUESTED, Instant.EPOCH)
                .namespace("acme")
                .payload(payload)
                .build();
    }

    @ParameterizedTest
    @CsvSource({
        "TASK, t1, acme, t1, s1, true",
        "TASK, t1, acme, t2, s1, false",
        "TASK, t1, other, t1, s1, false",
        "TASK, t1, acme, , s1, false",
        "SESSION, s1, acme, t1, s1, true",
        "SESSION, s1, acme, t1, s2, false",
        "SESSION, s1, acme, s1, , false",
        "SESSION, s1, other, t1, s1, false",
        "MEMORY, , acme, t1, s1, false",
        "NAMESPACE, , acme, t1, s1, true",
        "NAMESPACE, , other, t1, s1, false"
    })
    void shouldSayWhichTasksAreInIt(
            Kind kind,
            @Nullable String id,
            String namespace,
            @Nullable String taskId,
            @Nullable String sessionId,
            boolean contained) {
        assertThat(new ForgetScope(kind, "acme", id).contains(namespace, taskId, sessionId))
                .isEqualTo(contained);
    }

    @ParameterizedTest
    @CsvSource({"TASK, t1, false", "SESSION, s1, false", "MEMORY, , true", "NAMESPACE, , true"})
    void shouldReadWhatItWrites(Kind kind, @Nullable String id, boolean memory) {
        ForgetScope scope = new ForgetScope(kind, "acme", id);
        Event told = Event.root("f1", KnownEventType.FORGET_REQUESTED, Instant.EPOCH)
                .namespace("acme")
                .payload(scope.request("f0"))
                .build();

        assertThat(ForgetScope.of(told)).contains(scope);
        assertThat(ForgetScope.forgetId(told)).isEqualTo("f0");
        assertThat(told.fields()).hasSize(id == null ? 2 : 3);
        assertThat(scope.containsMemory()).isEqualTo(memory);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shouldKnowItsNames(Kind kind) {
        assertThat(Kind.of(kind.wireName())).contains(kind);
        assertThat(Kind.of(kind.name())).isEmpty();
    }

    @Test
    void shouldNotReadHalfAScope() {
        assertThat(ForgetScope.of(request(Map.of("scope", "task", "sessionId", "s1"))))
                .isEmpty();
        assertThat(ForgetScope.of(request(Map.of("scope", "session", "taskId", "t1"))))
                .isEmpty();
        assertThat(ForgetScope.of(request(Map.of("scope", "everything")))).isEmpty();
        assertThat(ForgetScope.of(request(Map.of()))).isEqualTo(Optional.empty());
        assertThat(ForgetScope.forgetId(request(Map.of()))).isEqualTo("f1");
    }

    @ParameterizedTest
    @CsvSource({"TASK, ", "SESSION, ", "MEMORY, m", "NAMESPACE, n"})
    void shouldWantAnIdWhereThereIsOne(Kind kind, @Nullable String id) {
        assertThatThrownBy(() -> new ForgetScope(kind, "acme", id))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(id == null ? "expected an id" : "expected no id");
    }
}
