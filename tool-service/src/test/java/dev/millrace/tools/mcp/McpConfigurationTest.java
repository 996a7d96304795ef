package dev.millrace.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.ToolDefinition.Approval;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class McpConfigurationTest {

    private static final Map<String, String> ENVIRONMENT = Map.of("TOKEN", "t$ken", "HOME", "/home/me", "EMPTY", "");

    @TempDir
    Path folder;

    @Test
    void shouldReadWhatOtherHostsRead() throws IOException {
        // when
        McpConfiguration read = read("""
            {
              "mcpServers": {
                "files": {
                  "type": "stdio",
                  "command": "npx",
                  "args": ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/notes"],
                  "env": {"API_TOKEN": "${env:TOKEN}", "LEVEL": "${LEVEL:-info}"},
                  "cwd": "/srv",
                  "autoApprove": ["read_file"],
                  "timeoutMs": 5000,
                  "approval": "always"
                },
                "remote": {
                  "url": "https://mcp.example.org/mcp?tenant=7",
                  "headers": {"Authorization": "Bearer ${TOKEN}"}
                },
                "off": {"command": "nothing", "disabled": true}
              }
            }
            """);
        // then
        assertThat(read.rejected()).isEmpty();
        assertThat(read.servers())
                .containsExactly(
                        new McpServer.Stdio(
                                "files",
                                List.of("npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me/notes"),
                                Map.of("API_TOKEN", "t$ken", "LEVEL", "info"),
                                Path.of("/srv"),
                                new McpServer.Terms(Duration.ofSeconds(5), new Approval.Always())),
                        new McpServer.Http(
                                "remote",
                                URI.create("https://mcp.example.org/mcp?tenant=7"),
                                Map.of("Authorization", "Bearer t$ken"),
                                McpServer.Terms.NONE));
        assertThat(read.servers().toString()).doesNotContain("t$ken");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'command':'x','env':{'A':'${MISSING}'}} | the environment variable MISSING is not set",
                "{'command':'${EMPTY}'} | the environment variable EMPTY is not set",
                "{} | expected either \"command\" or \"url\"",
                "{'command':'x','url':'http://h/'} | expected either \"command\" or \"url\"",
                "{'url':'ftp://h/'} | url: expected one that begins with http:// or https://",
                "{'url':'http:// h'} | url: expected one that begins with http:// or https://",
                "{'type':'sse','url':'http://h/'} | the old transport \"sse\" is not spoken; expected \"stdio\" or"
                        + " \"http\"",
                "{'command':'x','args':'y'} | args: expected an array",
                "{'command':'x','env':[]} | env: expected an object",
                "{'command':7} | command: expected a text",
                "{'command':'x','timeoutMs':0} | timeoutMs: expected 1 or more, found 0",
                "[] | expected an object"
            })
    void shouldSkipAnEntryThatIsOfNoUseAndSayWhy(String entry, String why) throws IOException {
        // when
        McpConfiguration read =
                read("{\"mcpServers\":{\"bad\":" + entry.replace('\'', '"') + ",\"good\":{\"command\":\"x\"}}}");
        // then
        assertThat(read.rejected()).containsEntry("bad", why);
        assertThat(read.servers()).extracting(McpServer::name).containsExactly("good");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{}", "[]", "{\"mcpServers\":[]}", "{\"mcpServers\":{},\"mcpServers\":{}}"})
    void shouldRefuseAFileThatIsOfNoUse(String text) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("mcp.json: expected");
    }

    @Test
    void shouldRefuseAFileThatIsNotThere() {
        assertThatThrownBy(() -> McpConfiguration.read(folder.resolve("none.json"), ENVIRONMENT::get))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("none.json: expected a readable file");
    }

    private McpConfiguration read(String text) throws IOException {
        Path file = folder.resolve("mcp.json");
        Files.writeString(file, text);
        return McpConfiguration.read(file, ENVIRONMENT::get);
    }
}
