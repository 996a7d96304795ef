package dev.millrace.tools.files;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OperatorPlacesTest {

    @TempDir
    Path temp;

    @ParameterizedTest
    @CsvSource({"workspace", "files/of/agents", "agents2", "data-2"})
    void shouldTakeAFolderOfItsOwn(String workspace) {
        assertThatCode(() -> OperatorPlaces.requireApart(temp.resolve(workspace), places()))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({
        "., holds",
        "agents, is the folder of agents",
        "agents/files, lies in the folder of agents",
        "data/workspace, lies in the data folder",
        "data/../agents, is the folder of agents",
        "config/../., holds"
    })
    void shouldRefuseOneThatTouchesWhatIsRun(String workspace, String why) throws IOException {
        // given
        Files.createDirectories(temp.resolve("data"));
        Files.createDirectories(temp.resolve("config"));
        // then
        assertThatThrownBy(() -> OperatorPlaces.requireApart(temp.resolve(workspace), places()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why)
                .hasMessageContaining("Choose a folder of its own");
    }

    @Test
    void shouldSeeThroughLinks() throws IOException {
        // given: the workspace is a link to the agents
        Files.createDirectories(temp.resolve("agents"));
        Files.createSymbolicLink(temp.resolve("workspace"), temp.resolve("agents"));
        // then
        assertThatThrownBy(() -> OperatorPlaces.requireApart(temp.resolve("workspace"), places()))
                .hasMessageContaining("is the folder of agents");
    }

    @Test
    void shouldSeeALinkIntoTheWorkspace() throws IOException {
        // given: the file of servers, and an agent, are links into the workspace
        Path workspace = Files.createDirectories(temp.resolve("workspace"));
        Files.createSymbolicLink(temp.resolve("mcp.json"), Files.writeString(workspace.resolve("servers.json"), "{}"));
        // then
        assertThatThrownBy(() -> OperatorPlaces.requireApart(workspace, places()))
                .hasMessageContaining("holds the MCP servers");
        // given
        Files.delete(temp.resolve("mcp.json"));
        Files.createDirectories(temp.resolve("agents/a"));
        Files.createSymbolicLink(temp.resolve("agents/a/AGENT.md"), workspace.resolve("servers.json"));
        // then
        assertThatThrownBy(() -> OperatorPlaces.requireApart(workspace, places()))
                .hasMessageContaining("holds a part of the folder of agents");
    }

    private Map<String, Path> places() {
        return Map.of(
                "the folder of agents", temp.resolve("agents"),
                "the data folder", temp.resolve("data"),
                "the MCP servers", temp.resolve("mcp.json"));
    }
}
