package dev.millrace.standalone;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.standalone.transfer.Exporter;
import dev.millrace.standalone.transfer.TransferException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code millrace export FILE}: everything that an installation knows, as a file. */
@Command(
        name = "export",
        footerHeading = "%nExamples:%n",
        footer = {
            "  export millrace.export.gz",
            "  export --data second second.export.gz",
            "  export --bootstrap-server kafka:9092 --command-config admin.properties production.export.gz"
        },
        description = {
            "Writes everything that an installation knows to a file: tasks with what they wait for, sessions, memory,"
                    + " definitions, schedules, knowledge, the journal, and what nobody has read yet. All services and workers"
                    + " have to be stopped; nothing is changed. The file is compressed and not encrypted."
        })
final class ExportCommand extends TransferCommand {

    @Override
    void requireFile(Path archive) {
        if (Files.exists(archive)) {
            throw new CommandException(
                    ExitCodes.FAILED, "expected no such file yet, found " + archive + ". Name another one");
        }
    }

    @Override
    void requireData(Path folder) {
        if (Files.notExists(folder)) {
            throw new CommandException(
                    ExitCodes.FAILED,
                    "expected the data folder of an up, found none at " + folder.getParent()
                            + ". Say --data FOLDER, or --bootstrap-server HOST:PORT for brokers that run");
        }
    }

    @Override
    Map<String, Long> run(ClientSettings kafka, Topics topics, Path archive)
            throws TransferException, IOException, InterruptedException {
        return new Exporter(kafka, topics, Version.ofMillrace(), this::tell).export(archive);
    }

    @Override
    void afterwards(Path folder, String topicPrefix) {
        hint("What is a secret is not in it: take " + UpCommand.REPLY_SECRET + " and " + KeysCommand.FILE + " from "
                + folder + " to the new data folder, if they are there");
    }
}
