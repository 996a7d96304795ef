package dev.millrace.reflection.topology;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.schemas.Json;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DocumentRowTest {

    @Test
    @DisplayName("a row of before people could edit is read as one that nobody has edited")
    void shouldReadRowsWithoutEdits() throws JsonProcessingException {
        DocumentRow row = Json.MAPPER.readValue(
                "{\"version\":2,\"content\":\"x\",\"updatedAt\":\"2026-11-22T09:00:00Z\",\"updatedBy\":\"task t1\",\"changeId\":\"c\"}",
                DocumentRow.class);

        assertThat(row).isEqualTo(new DocumentRow(2, "x", "2026-11-22T09:00:00Z", "task t1", "c", List.of()));
    }

    @Test
    void shouldComeBackAsItWasWritten() throws JsonProcessingException {
        DocumentRow row = new DocumentRow(3, null, "2026-11-22T09:00:00Z", "person", "e3", List.of()).remembering("e3");

        assertThat(Json.MAPPER.readValue(Json.writeText(row), DocumentRow.class))
                .isEqualTo(row);
    }

    @Test
    void shouldRememberTheLastEdits() {
        DocumentRow row = new DocumentRow(0, "x", "2026-11-22T09:00:00Z", "person", "e", List.of());
        for (int version = 1; version <= 25; version++) {
            row = new DocumentRow(version, "x", "2026-11-22T09:00:00Z", "person", "e" + version, row.edits())
                    .remembering("e" + version);
        }

        assertThat(row.edits()).hasSize(20);
        assertThat(row.versionOf("e25")).hasValue(25L);
        assertThat(row.versionOf("e6")).hasValue(6L);
        assertThat(row.versionOf("e5")).isEmpty();
    }
}
