package dev.millrace.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class InstanceNameTest {

    @Test
    void shouldDifferBetweenInstancesThatStartTogether() {
        assertThat(Stream.generate(Wiring::instanceName).limit(100)).doesNotHaveDuplicates();
    }
}
