package dev.millrace.standalone;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.schemas.Topics;
import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.standalone.transfer.Importer;
import dev.millrace.standalone.transfer.TransferException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace import FILE}: an installation out of a file of {@link ExportCommand}. */
@Command(
        name = "import",
        footerHeading = "%nExamples:%n",
        footer = {
            "  import --data moved --partitions 12 millrace.export.gz",
            "  import --bootstrap-server kafka:9092 --partitions 24 --replication 3 millrace.export.gz"
        },
        description = {
            "Makes an installation of a file that export has written, where there is none: with any number of"
                    + " partitions, in another data folder, at other brokers, or with another prefix. Then start the services."
        })
final class ImportCommand extends TransferCommand {

    @Option(
            names = "--partitions",
            paramLabel = "N",
            description = "How many partitions the lanes and the journal get (default: as many as they had).")
    private int partitions;

    @Option(
            names = "--replication",
            paramLabel = "N",
            description = "On how many brokers each topic is to be (default: as these are configured to).")
    private int replication = TopicSettings.BROKER_DEFAULT;

    @Override
    void requireFile(Path archive) throws IOException {
        if (Files.notExists(archive)) {
            throw new NoSuchFileException(archive.toString());
        }
        if (partitions < 0) {
            throw new CommandException(ExitCodes.USAGE, "--partitions: expected 1 or more, found " + partitions);
        }
    }

    @Override
    void requireData(Path folder) {
        // it is made if it is not there
    }

    @Override
    Map<String, Long> run(ClientSettings kafka, Topics topics, Path archive)
            throws TransferException, IOException, InterruptedException {
        return new Importer(kafka, topics, this::tell).run(archive, partitions, replication);
    }

    @Override
    void afterwards(Path folder, String topicPrefix) {
        hint("Now: " + (topicPrefix.equals(Topics.DEFAULT_PREFIX) ? "" : "MILLRACE_TOPICS_PREFIX=" + topicPrefix + " ")
                + (partitions == 0 ? "" : "MILLRACE_TOPICS_PARTITIONS=" + partitions + " ") + "./millrace up --data "
                + folder);
    }
}
