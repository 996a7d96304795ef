package dev.millrace.standalone;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.gateway.access.ApiKey;
import dev.millrace.gateway.access.ApiKeyFile;
import dev.millrace.schemas.Durations;
import dev.millrace.schemas.Json;
import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.standalone.cli.Terminal;
import dev.millrace.standalone.cli.TopCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace keys}: the file of API keys, which a gateway reads. It need not run. */
@Command(
        name = "keys",
        footerHeading = "%nExamples:%n",
        footer = {"  keys create ada --grant acme:read,acme:write", "  keys list --json", "  keys revoke KEY"},
        synopsisSubcommandLabel = "COMMAND",
        description =
                "Makes, lists and revokes the API keys of a gateway, in their file. A gateway notices within a second.",
        subcommands = {KeysCommand.CreateKey.class, KeysCommand.ListKeys.class, KeysCommand.RevokeKey.class})
final class KeysCommand implements Runnable {

    /** The file of keys in a data folder. */
    static final String FILE = "keys.json";

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** One that is about the file. */
    abstract static class OfFile implements Callable<Integer> {

        @CommandLine.Spec
        private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

        @Option(
                names = "--file",
                paramLabel = "FILE",
                defaultValue = "${env:MILLRACE_GATEWAY_AUTH_KEYS_FILE:-./data/" + FILE + "}",
                description = "The file of keys (default: $MILLRACE_GATEWAY_AUTH_KEYS_FILE, else ./data/keys.json).")
        private Path file = Path.of("data", FILE);

        @Option(names = "--json", description = "Print JSON, one line for each.")
        private boolean json;

        final boolean json() {
            return json;
        }

        @Override
        public final Integer call() {
            try {
                run(new ApiKeyFile(file));
                return ExitCodes.DONE;
            } catch (IOException e) {
                throw new CommandException(ExitCodes.FAILED, "The file of keys: " + e.getMessage());
            }
        }

        abstract void run(ApiKeyFile keys) throws IOException;

        final Path file() {
            return file;
        }

        final Terminal terminal() {
            return ((TopCommand) spec.root().userObject()).terminal();
        }
    }

    /** {@code millrace keys create}. */
    @Command(name = "create", description = "Makes a key and prints it, this once: only a hash of it is kept.")
    static final class CreateKey extends OfFile {

        @Parameters(paramLabel = "PRINCIPAL", description = "Who calls with it; stands in events and in the history.")
        private String principal = "";

        @Option(
                names = "--grant",
                paramLabel = "NAMESPACE:PERMISSION",
                split = ",",
                required = true,
                description =
                        "What may be done with it: read, write, approve, memory or admin in a namespace; * stands for"
                                + " all of either.")
        private List<String> grants = List.of();

        @Option(
                names = "--expires",
                paramLabel = "TIME",
                description = "How long it counts, such as 12h or P90D (default: until it is revoked).")
        private @Nullable String expires;

        @Override
        void run(ApiKeyFile keys) throws IOException {
            ApiKey.Fresh fresh = draw();
            keys.change(all -> {
                List<ApiKey> more = new ArrayList<>(all);
                more.add(fresh.kept());
                return more;
            });
            if (json()) {
                terminal().out().println(Json.writeText(Shown.of(fresh.kept(), fresh.secret())));
            } else {
                terminal().out().println(fresh.secret());
            }
            terminal()
                    .err()
                    .println("Key " + fresh.kept().id() + " of " + principal + " is in " + file()
                            + "; what is printed is shown this once. It goes into the header Authorization: Bearer, or"
                            + " MILLRACE_TOKEN.");
        }

        private ApiKey.Fresh draw() {
            try {
                return ApiKey.draw(principal, grants, Instant.now(), lifetime(expires));
            } catch (IllegalArgumentException e) {
                throw new CommandException(ExitCodes.USAGE, String.valueOf(e.getMessage()));
            }
        }

        private static @Nullable Duration lifetime(@Nullable String text) {
            if (text == null) {
                return null;
            }
            Duration lifetime;
            try {
                lifetime = text.startsWith("P")
                        ? Duration.parse(text)
                        : Durations.parse(text).orElse(Duration.ZERO);
            } catch (DateTimeException e) {
                lifetime = Duration.ZERO;
            }
            if (lifetime.isZero() || lifetime.isNegative()) {
                throw new IllegalArgumentException("--expires: expected a time such as 12h or P90D, found " + text);
            }
            return lifetime;
        }
    }

    /** {@code millrace keys list}. */
    @Command(name = "list", description = "Lists the keys, without what one calls with.")
    static final class ListKeys extends OfFile {

        @Override
        void run(ApiKeyFile keys) throws IOException {
            List<ApiKey> all = keys.keys();
            if (all.isEmpty()) {
                terminal().err().println("No keys in " + file() + ".");
            } else if (json()) {
                all.forEach(key -> terminal().out().println(Json.writeText(Shown.of(key, null))));
            } else {
                line("KEY", "EXPIRES", "PRINCIPAL", "GRANTS");
                all.forEach(
                        key -> line(key.id(), shown(key.expiresAt()), key.principal(), String.join(" ", key.grants())));
            }
        }

        private void line(String id, String expires, String principal, String grants) {
            terminal().out().println("%-12s  %-30s  %-20s  %s".formatted(id, expires, principal, grants));
        }

        private static String shown(@Nullable String expires) {
            return expires == null
                    ? "never"
                    : Instant.now().isBefore(Instant.parse(expires)) ? expires : expires + " (over)";
        }
    }

    /** {@code millrace keys revoke}. */
    @Command(name = "revoke", description = "Takes a key out of the file; nobody calls with it any more.")
    static final class RevokeKey extends OfFile {

        @Parameters(paramLabel = "KEY", description = "Its id, as list and create show it.")
        private String id = "";

        @Override
        void run(ApiKeyFile keys) throws IOException {
            if (keys.keys().stream().noneMatch(key -> key.id().equals(id))) {
                throw new CommandException(ExitCodes.FAILED, "There is no key " + id + " in " + file() + ".");
            }
            keys.change(all -> all.stream().filter(key -> !key.id().equals(id)).toList());
            if (json()) {
                terminal().out().println(Json.writeText(Map.of("id", id, "revoked", true)));
            }
            terminal().err().println("Key " + id + " is revoked.");
        }
    }

    /** A key as JSON; the secret only of one that was just drawn. */
    private record Shown(
            String id,
            String principal,
            List<String> grants,
            @Nullable String createdAt,
            @Nullable String expiresAt,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String secret) {
        static Shown of(ApiKey key, @Nullable String secret) {
            return new Shown(key.id(), key.principal(), key.grants(), key.createdAt(), key.expiresAt(), secret);
        }
    }
}
