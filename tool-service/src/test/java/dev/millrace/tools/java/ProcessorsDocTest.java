package dev.millrace.tools.java;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ProcessorsDocTest {

    @Test
    @DisplayName("docs/processors.md shows the gate of examples/processors as it is")
    void shouldShowTheExampleAsItIs() throws IOException {
        Path root = Path.of("").toAbsolutePath().resolve("..").normalize();
        String example = Files.readString(root.resolve("examples/processors/ApprovalGate.java"));

        assertThat(Files.readString(root.resolve("docs/processors.md")))
                .contains("```java\n" + example.stripTrailing() + "\n```");
    }
}
