package dev.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenApiCheckTest {
    private static final String DOCUMENT = """
            { "paths": {
                "/v1/tasks/{id}": { "get": { "responses": { "200": { "content": { "application/json":
                  { "schema": { "$ref": "#/components/schemas/Task" } } } }, "404": {} } } },
                "/v1/tasks/{id}/events": { "get": { "responses": { "200": {} } } } },
              "components": { "schemas": {
                "Task": { "type": "object", "properties": {
                  "taskId": { "type": "string" },
                  "usage": { "$ref": "#/components/schemas/Usage" },
                  "metadata": { "type": "object", "additionalProperties": {} } } },
                "Usage": { "type": "object", "properties": { "inputTokens": { "type": "integer" } } } } } }
            """;

    private final OpenApiCheck check = new OpenApiCheck(DOCUMENT);

    @Test
    void shouldTakeWhatIsDescribed() {
        assertThat(check.problems(
                        "GET",
                        URI.create("http://x/v1/tasks/a%2Fb?namespace=n"),
                        200,
                        "{\"taskId\":\"a\",\"usage\":{\"inputTokens\":1},\"metadata\":{\"any\":1}}"))
                .isEmpty();
        assertThat(check.problems("GET", URI.create("http://x/v1/tasks/a/events"), 200, "{\"other\":1}"))
                .isEmpty();
        assertThat(check.problems("GET", URI.create("http://x/v1/nowhere"), 404, "{}"))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "200 | {\"taskId\":\"a\",\"undescribed\":1}     | undescribed",
                "200 | {\"usage\":{\"outputTokens\":1}}         | outputTokens",
                "200 | {\"taskId\":1}                           | taskId",
                "202 | {}                                       | no answer 202"
            })
    void shouldFindWhatIsNot(int status, String body, String problem) {
        assertThat(check.problems("GET", URI.create("http://x/v1/tasks/a"), status, body))
                .singleElement()
                .asString()
                .contains(problem);
    }
}
