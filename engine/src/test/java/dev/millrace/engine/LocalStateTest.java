package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalStateTest {

    @TempDir
    Path temp;

    @Test
    void shouldForgetOneTaskAndNothingElse() throws Exception {
        LocalState state = new LocalState(temp, "machine");
        Path damaged = Files.createDirectories(state.folder(new TaskId(0, 1)).resolve("rocksdb/timers"));
        Files.writeString(damaged.resolve("CURRENT"), "MANIFEST-000013");
        Path whole = Files.createDirectories(state.folder(new TaskId(0, 2)));

        state.forget(new TaskId(0, 1));
        state.forget(new TaskId(0, 1));

        assertThat(temp.resolve("machine")).isDirectoryNotContaining("glob:**0_1");
        assertThat(whole).isDirectory();
    }

    @Test
    void shouldFindRoomForAFolderThatIsNotThereYet() {
        assertThat(new LocalState(temp.resolve("not/yet/there"), "machine").hasRoom())
                .isTrue();
    }
}
