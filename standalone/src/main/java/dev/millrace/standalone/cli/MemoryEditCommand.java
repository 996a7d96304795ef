package dev.millrace.standalone.cli;

import dev.millrace.api.MemoryPage;
import dev.millrace.client.GatewayHttp;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace memory edit <path>}: a document in the person's own editor. */
@Command(
        name = "edit",
        description =
                "Opens a document in your editor, and writes it if you have changed it and nobody else has; makes a"
                        + " document that is not there.")
final class MemoryEditCommand extends DocumentCommand {

    @Option(
            names = "--editor",
            paramLabel = "COMMAND",
            description = "The editor (default: $VISUAL, $EDITOR, else vi).")
    private String editor = Stream.of("VISUAL", "EDITOR")
            .map(name -> Optional.ofNullable(System.getenv(name)).orElse(""))
            .filter(command -> !command.isBlank())
            .findFirst()
            .orElse("vi");

    @Mixin
    private AuthorOption author = new AuthorOption();

    @Override
    int run(MemoryClient memory, String path) throws IOException {
        Optional<GatewayHttp.Text> now = memory.find(path);
        String before = now.map(GatewayHttp.Text::text).orElse("");
        Path file = Files.createTempFile("millrace-", ".md");
        Files.writeString(file, before);
        String after = edited(file);
        if (after.equals(before)) {
            Files.delete(file);
            err("Nothing was changed.");
            return ExitCodes.DONE;
        }
        MemoryPage.Version version;
        try {
            version = memory.write(
                    path, after, now.map(GatewayHttp.Text::etag).orElse(MemoryClient.NOTHING), author.by());
        } catch (CommandException e) {
            throw new CommandException(e.exitCode(), e.getMessage() + " Your text is in " + file + ".");
        }
        Files.delete(file);
        done(version, path + " is written.");
        return ExitCodes.DONE;
    }

    /** Lets the person edit the file, and returns what is in it then. */
    private String edited(Path file) throws IOException {
        int exit;
        try {
            // by the shell, since an editor is often named with options; the file is no part of its text
            ProcessBuilder command =
                    new ProcessBuilder(List.of("sh", "-c", editor + " \"$MILLRACE_FILE\"")).inheritIO();
            command.environment().putAll(Map.of("MILLRACE_FILE", file.toString()));
            exit = command.start().waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException(ExitCodes.FAILED, "Interrupted. Your text is in " + file + ".");
        }
        if (exit != 0) {
            throw new CommandException(
                    ExitCodes.FAILED,
                    "The editor (" + editor + ") ended with " + exit + "; nothing was written. Your text is in " + file
                            + ".");
        }
        try {
            return Files.readString(file);
        } catch (CharacterCodingException e) {
            throw new CommandException(ExitCodes.FAILED, "What is in " + file + " is not UTF-8; nothing was written.");
        }
    }
}
