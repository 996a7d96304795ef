package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.access.ApiKeyFile;
import dev.millrace.gateway.access.ApiKeys;
import dev.millrace.standalone.cli.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeysCommandTest {

    @TempDir
    private Path folder = Path.of("");

    @Test
    @DisplayName("a key is shown once, counts at a gateway, is listed without itself, and is gone once it is revoked")
    void shouldMakeListAndRevoke() throws IOException {
        // when
        CommandRun create = CommandRun.of(
                "keys", "create", "ci", "--grant", "acme:read,acme:write", "--expires", "12h", "--file", file());

        // then
        assertThat(create.exitCode()).as(create.err()).isZero();
        String secret = create.out().strip();
        assertThat(secret).startsWith("mlr_");
        assertThat(new ApiKeys(new ApiKeyFile(Path.of(file())), Clock.systemUTC()).find(secret))
                .hasValueSatisfying(identity -> {
                    assertThat(identity.principal()).isEqualTo("ci");
                    assertThat(identity.grants()).hasToString("[acme:read, acme:write]");
                });

        // when
        CommandRun list = CommandRun.of("keys", "list", "--file", file());
        CommandRun json = CommandRun.of("keys", "list", "--json", "--file", file());
        String id = list.out().lines().skip(1).findFirst().orElseThrow().split(" ", 2)[0];
        CommandRun revoke = CommandRun.of("keys", "revoke", id, "--file", file());

        // then
        assertThat(list.out()).contains("ci", "acme:read acme:write").doesNotContain(secret);
        assertThat(json.out()).contains("\"id\":\"" + id + "\"").doesNotContain("hash");
        assertThat(create.err()).contains(id);
        assertThat(revoke.exitCode()).isZero();
        assertThat(CommandRun.of("keys", "list", "--file", file()).err()).contains("No keys in");
        assertThat(CommandRun.of("keys", "revoke", id, "--file", file()).exitCode())
                .isEqualTo(ExitCodes.FAILED);
    }

    @ParameterizedTest
    @CsvSource({
        "acme:reed, 1h, expected a grant such as acme:read",
        "acme, 1h, expected a grant such as acme:read",
        "acme:read, soon, --expires: expected a time",
        "acme:read, P-1D, --expires: expected a time",
        "acme:read, P1, --expires: expected a time"
    })
    @DisplayName("what makes no sense is said, and no file is made")
    void shouldRefuseNonsense(String grant, String expires, String said) {
        CommandRun run =
                CommandRun.of("keys", "create", "ci", "--grant", grant, "--expires", expires, "--file", file());

        assertThat(run.exitCode()).isEqualTo(ExitCodes.USAGE);
        assertThat(run.err()).contains(said);
        assertThat(Path.of(file())).doesNotExist();
    }

    @Test
    @DisplayName("a file with something else in it is left as it is")
    void shouldLeaveStrangeFilesAlone() throws IOException {
        Files.writeString(Path.of(file()), "not keys");

        CommandRun run = CommandRun.of("keys", "create", "ci", "--grant", "*:*", "--file", file());

        assertThat(run.exitCode()).isEqualTo(ExitCodes.FAILED);
        assertThat(run.out()).isEmpty();
        assertThat(Path.of(file())).hasContent("not keys");
    }

    @Test
    @DisplayName("every command that asks a gateway sends its token, and says where one goes if it is asked for")
    void shouldSendTheToken() throws IOException {
        try (StubGateway gateway = new StubGateway()) {
            gateway.answer("/v1/tasks", 200, "{\"tasks\":[],\"next\":null}")
                    .answer("/v1/agents", 401, "{\"detail\":\"Who is there?\"}");

            CommandRun tasks = CommandRun.of("tasks", "--url", gateway.url(), "--token", "mlr_abc");
            CommandRun agents = CommandRun.of("agents", "--url", gateway.url());

            assertThat(tasks.exitCode()).as(tasks.err()).isZero();
            assertThat(gateway.requests().getFirst()).startsWith("Bearer mlr_abc: GET /v1/tasks");
            assertThat(agents.err()).contains("Who is there? Say it with --token or MILLRACE_TOKEN.");
            assertThat(CommandRun.of("tasks", "--token", "two words").exitCode())
                    .isEqualTo(ExitCodes.USAGE);
        }
    }

    private String file() {
        return folder.resolve("keys.json").toString();
    }
}
