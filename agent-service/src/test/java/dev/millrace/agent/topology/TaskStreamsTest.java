package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.engine.RocksSettings;
import dev.millrace.kafka.ClientSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TaskStreamsTest {

    @Test
    @DisplayName("little is buffered while lanes have priorities, and what an operator sets counts")
    void shouldBufferLittleForPriority() {
        assertThat(config(true, ClientSettings.NONE))
                .containsEntry("buffered.records.per.partition", 20)
                .containsKey("main.consumer.max.poll.records");
        assertThat(config(false, ClientSettings.NONE))
                .containsEntry("buffered.records.per.partition", 100)
                .doesNotContainKey("main.consumer.max.poll.records");
        assertThat(config(true, ClientSettings.NONE.with("buffered.records.per.partition", "7")))
                .containsEntry("buffered.records.per.partition", "7");
    }

    @Test
    @DisplayName("stores are compressed, unless an operator has settings of RocksDB")
    void shouldCompressStores() {
        assertThat(config(true, ClientSettings.NONE)).containsEntry("rocksdb.config.setter", RocksSettings.class);
        assertThat(config(true, ClientSettings.NONE.with("rocksdb.config.setter", "theirs")))
                .containsEntry("rocksdb.config.setter", "theirs");
    }

    private static Map<String, Object> config(boolean priority, ClientSettings kafka) {
        return TaskStreams.config(
                        kafka,
                        new TaskStreams.Settings(
                                TestMachine.TOPICS, "test", Path.of("unused"), 1, Duration.ofMillis(20), priority))
                .values();
    }
}
