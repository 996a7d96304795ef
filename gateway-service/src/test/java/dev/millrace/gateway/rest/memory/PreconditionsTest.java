package dev.millrace.gateway.rest.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.JsonObject;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PreconditionsTest {

    @ParameterizedTest(name = "If-Match: {0}, If-None-Match: {1} -> {2}")
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "-                  | -           | {}",
                "*                  | -           | {exists=true}",
                "-                  | *           | {exists=false}",
                "\"3-ab\"           | -           | {ifMatch=[3-ab]}",
                "\"a\", \"b\",\"c\" | -           | {ifMatch=[a, b, c]}",
                "W/\"a\", \"b\"     | -           | {ifMatch=[b]}",
                "W/\"a\"            | -           | {ifMatch=[]}",
                "\"a,b\"            | -           | {ifMatch=[a,b]}",
                "\"\"               | -           | {ifMatch=[]}",
                "-                  | W/\"a\",\"b\" | {ifNoneMatch=[a, b]}",
                "\"a\"              | \"b\"       | {ifMatch=[a], ifNoneMatch=[b]}",
                "*                  | *           | {exists=true, ifMatch=[]}"
            })
    @DisplayName("RFC 9110, 13.1: If-Match compares strongly, If-None-Match weakly; both together have to hold")
    void shouldSayWhatTheWriterHasToCompare(@Nullable String match, @Nullable String noneMatch, String payload) {
        JsonObject.Builder fields = JsonObject.builder();

        Preconditions.of(match, noneMatch).addTo(fields);

        assertThat(fields.build().toString()).isEqualTo(payload);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "3", "3-ab", "\"a", "a\"", "\"a\" \"b\"", "w/\"a\"", "W/ \"a\"", "*, \"a\"", "\"a\u0007\""})
    void shouldRefuseWhatIsNoTag(String header) {
        assertThatThrownBy(() -> Preconditions.of(header, null)).isInstanceOfSatisfying(ProblemException.class, e -> {
            assertThat(e.problem().status()).isEqualTo(400);
            assertThat(e.problem().detail()).contains("If-Match");
        });
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"-, false", "*, true", "'\"a\"', true", "'W/\"a\"', true", "'\"b\"', false"})
    @DisplayName("RFC 9110, 13.1.2: who has it already need not get it again")
    void shouldKnowWhatTheClientHas(@Nullable String noneMatch, boolean known) {
        assertThat(Preconditions.of(null, noneMatch).known("a")).isEqualTo(known);
    }
}
