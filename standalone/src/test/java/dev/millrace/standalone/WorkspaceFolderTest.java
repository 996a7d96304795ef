package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.standalone.cli.CommandException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkspaceFolderTest {

    @TempDir
    Path temp;

    @Test
    void shouldMakeAWorkspaceWithSomethingToAskAbout() {
        // when
        Path workspace = WorkspaceFolder.prepare(temp.resolve("new"));

        // then
        assertThat(workspace.resolve("notes.txt")).isNotEmptyFile();
        assertThat(workspace).isDirectoryContaining("glob:**/wheels.csv");
    }

    @Test
    void shouldLeaveAnExistingWorkspaceAlone() throws IOException {
        // given
        Path mine = Files.createDirectory(temp.resolve("mine"));

        // when
        Path workspace = WorkspaceFolder.prepare(mine);

        // then
        assertThat(workspace).isEqualTo(mine).isEmptyDirectory();
    }

    @Test
    void shouldRefuseAFile() throws IOException {
        // given
        Path file = Files.createFile(temp.resolve("file"));

        // when
        CommandException refused = catchThrowableOfType(CommandException.class, () -> WorkspaceFolder.prepare(file));

        // then
        assertThat(refused).hasMessageContaining("expected a folder, found a file");
    }
}
