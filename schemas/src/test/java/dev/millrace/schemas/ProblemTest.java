package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProblemTest {

    @Test
    void shouldHaveTheMembersOfRfc9457AndTheCode() {
        // given
        Problem problem =
                new Problem(422, "unknown_agent", "Unknown agent", "There is none.", Map.of("agents", List.of("a")));

        // when
        Map<String, ?> json = problem.toJson("/v1/tasks");

        // then
        assertThat(json)
                .isEqualTo(Map.of(
                        "type", "urn:millrace:problem:unknown_agent",
                        "title", "Unknown agent",
                        "status", 422,
                        "detail", "There is none.",
                        "instance", "/v1/tasks",
                        "code", "unknown_agent",
                        "agents", List.of("a")));
    }
}
