package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Json;
import dev.millrace.standalone.cli.Terminal;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What commands print, for whom: tables that stay, JSON, and what shells complete. */
class CommandOutputTest {

    /** They ask no gateway for anything, or serve. */
    private static final Set<String> WITHOUT_JSON = Set.of("acp", "up", "broker", "train", "help", "completion");

    @SuppressWarnings("NullAway.Init")
    private StubGateway gateway;

    @BeforeEach
    void open() throws IOException {
        gateway = new StubGateway();
    }

    @AfterEach
    void close() {
        gateway.close();
    }

    @Test
    @DisplayName("every command that asks a gateway, or keeps its keys, takes --json")
    void shouldTakeJsonEverywhere() {
        // when
        List<String> without = new ArrayList<>();
        collect("", Main.commandLine(terminal()), without);

        // then
        assertThat(without).containsExactlyInAnyOrderElementsOf(WITHOUT_JSON);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "suspend t",
                "resume t",
                "cancel t",
                "approve c",
                "reject c",
                "drain",
                "undrain",
                "retry e",
                "redrive 0:1",
                "dead-letters redrive 0:1",
                "discard 0:1",
                "fork t",
                "schedules pause s",
                "schedules fire s",
                "sessions delete s --yes"
            })
    @DisplayName("with --json what was done is told as the API tells it, and nothing else")
    void shouldTellWhatWasDoneAsJson(String command) throws IOException {
        // given
        gateway.answer(
                "/v1/",
                200,
                "{\"taskId\":\"t\",\"eventId\":\"e\",\"status\":\"accepted\",\"cursor\":\"0:1\",\"id\":\"e\",\"forgetId\":\"f\"}");

        // when
        CommandRun run = CommandRun.of((command + " --json --url " + gateway.url()).split(" "));

        // then
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(Json.MAPPER.readTree(run.out()).isObject()).as(run.out()).isTrue();
        assertThat(run.out().lines()).hasSize(1);
    }

    @Test
    @DisplayName("discard takes a place, or all of a kind page by page, and nothing without either")
    void shouldDiscard() {
        // given
        gateway.answer("/v1/dead-letters/0%3A41/discard", 200, "{\"cursor\":\"0:41\",\"status\":\"discarded\"}")
                .answer(
                        "/v1/dead-letters/discard",
                        200,
                        "{\"discarded\":[{\"cursor\":\"0:7\"},{\"cursor\":\"1:2\"}],\"next\":null}");

        // when
        CommandRun all = CommandRun.of("discard", "--reason", "unknown_task", "--url", gateway.url());
        CommandRun both = CommandRun.of("discard", "0:41", "--reason", "unknown_task", "--url", gateway.url());
        CommandRun none = CommandRun.of("discard", "--url", gateway.url());

        // then
        assertThat(all.out().lines()).containsExactly("0:7", "1:2");
        assertThat(gateway.requests()).containsExactly("POST /v1/dead-letters/discard {\"reason\":\"unknown_task\"}");
        assertThat(both.exitCode()).isEqualTo(2);
        assertThat(none.exitCode()).isEqualTo(2);
        assertThat(none.err()).contains("expected CURSOR, or else --reason, --task or --type");
    }

    @Test
    @DisplayName(
            "bulk goes through all that a filter matches, page by page, and tells each outcome; a dry run asks once")
    void shouldDoOneThingWithMany() {
        // given
        String item = "{\"taskId\":\"t-1\",\"state\":\"acting\",\"status\":\"possible\"}";
        gateway.answer(
                "/v1/tasks/bulk",
                200,
                "{\"action\":\"cancel\",\"dryRun\":true,\"matched\":{\"states\":{\"acting\":2,\"completed\":300},"
                        + "\"complete\":false},\"items\":[" + item + "],\"next\":\"more\"}");

        // when
        CommandRun dry = CommandRun.of("bulk", "cancel", "--agent", "clerk", "--dry-run", "--url", gateway.url());

        // then
        assertThat(dry.exitCode()).isZero();
        assertThat(dry.err()).contains("At least 302 tasks are meant: 2 acting, 300 completed. Nothing was done.");
        assertThat(dry.out().lines()).containsExactly("t-1  possible");
        assertThat(gateway.requests())
                .containsExactly("POST /v1/tasks/bulk {\"action\":\"cancel\",\"filter\":{\"agent\":\"clerk\"},"
                        + "\"dryRun\":true,\"limit\":20}");

        // and when
        CommandRun json = CommandRun.of("bulk", "cancel", "t-1", "--dry-run", "--json", "--url", gateway.url());
        // then
        assertThat(json.out().lines()).hasSize(1);
        assertThat(json.out()).contains("\"status\":\"possible\"");

        // and when
        CommandRun none = CommandRun.of("bulk", "cancel", "--url", gateway.url());
        CommandRun both = CommandRun.of("bulk", "cancel", "t-1", "--all", "--url", gateway.url());
        // then
        assertThat(none.exitCode()).isEqualTo(2);
        assertThat(none.err()).contains("expected TASKs, or else a filter such as --state, or --all");
        assertThat(both.exitCode()).isEqualTo(2);
    }

    @Test
    @DisplayName("tasks --watch draws the table in its place where somebody looks, and ends when all have ended")
    void shouldWatchTasks() {
        // given
        gateway.answer("/v1/tasks", 200, """
                {"tasks":[{"taskId":"t-1","state":"completed","taskType":"general","createdAt":0,"iterations":1,
                  "inputText":"turn"}],"next":null}""");
        String[] command = {"tasks", "--watch", "--until-idle", "--url", gateway.url()};

        // when
        CommandRun live = CommandRun.live(command);
        CommandRun piped = CommandRun.of(command);
        CommandRun json = CommandRun.of(
                Stream.concat(Stream.of(command), Stream.of("--json")).toArray(String[]::new));

        // then
        assertThat(live.out())
                .startsWith("\u001b[2J\u001b[H")
                .contains("TASK", "t-1", "turn\u001b[K\n")
                .endsWith("\u001b[J");
        assertThat(piped.out()).startsWith("t-1").doesNotContain("\u001b");
        assertThat(piped.out().lines()).hasSize(1);
        assertThat(json.out()).startsWith("{\"taskId\":\"t-1\"");
    }

    @Test
    @DisplayName("bash completes commands, also those of the script itself, and their options")
    void shouldComplete(@TempDir Path temp) throws Exception {
        // given
        Path script = temp.resolve("completion");
        Files.writeString(script, CommandRun.of("completion", "bash").out());

        // then
        assertThat(completed(script, "de")).containsExactly("dead-letters");
        assertThat(completed(script, "be")).containsExactly("bench");
        assertThat(completed(script, "memory", "ex")).containsExactly("export");
        assertThat(completed(script, "tasks", "--wa")).contains("--watch", "--waiting-for");
        assertThat(CommandRun.of("completion", "zsh").out()).contains("bashcompinit");
        assertThat(CommandRun.of("completion", "fish").exitCode()).isEqualTo(2);
    }

    private static List<String> completed(Path script, String... words) throws Exception {
        String line = "millrace " + String.join(" ", words);
        Process bash = new ProcessBuilder(
                        "bash",
                        "-c",
                        "source '" + script + "'; COMP_WORDS=(" + line + "); COMP_CWORD=" + words.length
                                + "; COMP_LINE='" + line + "'; _complete_millrace; printf '%s\\n' \"${COMPREPLY[@]}\"")
                .redirectErrorStream(true)
                .start();
        String out = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor(20, TimeUnit.SECONDS)).isTrue();
        return out.lines().map(String::strip).toList();
    }

    private static void collect(String prefix, CommandLine command, List<String> without) {
        command.getSubcommands().forEach((name, sub) -> {
            if (!sub.getSubcommands().isEmpty()) {
                collect(prefix + name + ' ', sub, without);
            } else if (sub.getCommandSpec().findOption("--json") == null) {
                without.add(prefix + name);
            }
        });
    }

    private static Terminal terminal() {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
        return new Terminal(nowhere, nowhere, null, false, Terminal.DEFAULT_COLUMNS);
    }
}
