package dev.millrace.standalone;

import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The folder that the file tools may see. One that does not exist is made, with something in it to ask about. */
final class WorkspaceFolder {

    private static final String NOTES = """
            Notes on mill races

            A mill race is the channel that leads water to a mill wheel. The part above the wheel is the head race,
            the part below it the tail race. A sluice gate decides how much water the wheel gets.

            To do: oil the sluice gate before Friday.
            """;

    private static final String WHEELS = """
            name,kind,diameter in m
            Elsa,overshot,4.2
            Old Tom,undershot,5.0
            Marie,breastshot,3.6
            """;

    private WorkspaceFolder() {}

    /** Returns the folder's absolute path; makes and fills it if it is missing. */
    static Path prepare(Path folder) {
        Path path = folder.toAbsolutePath().normalize();
        try {
            if (!Files.exists(path)) {
                Files.createDirectories(path);
                Files.writeString(path.resolve("notes.txt"), NOTES);
                Files.writeString(path.resolve("wheels.csv"), WHEELS);
            }
        } catch (IOException e) {
            throw new CommandException(
                    ExitCodes.FAILED, "Cannot make the workspace folder " + path + " (" + e + "). Choose another one.");
        }
        if (!Files.isDirectory(path)) {
            throw new CommandException(ExitCodes.FAILED, "--workspace: expected a folder, found a file: " + path + ".");
        }
        return path;
    }
}
