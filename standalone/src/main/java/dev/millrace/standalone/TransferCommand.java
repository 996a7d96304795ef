package dev.millrace.standalone;

import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Topics;
import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.standalone.cli.Terminal;
import dev.millrace.standalone.cli.TopCommand;
import dev.millrace.standalone.transfer.TransferException;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * A command that moves an installation by way of a file: in the data folder of an {@code up} that is stopped, whose
 * broker it starts meanwhile, or at brokers that run.
 */
abstract class TransferCommand implements Callable<Integer> {

    /** After so many records of a topic a person is told how far it is. */
    private static final int STEP = 20_000;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Parameters(paramLabel = "FILE", arity = "1", description = "The file.")
    private Path file = Path.of("");

    @Option(
            names = "--data",
            paramLabel = "FOLDER",
            defaultValue = "./data",
            description = "The data folder of an up that is stopped (default: ${DEFAULT-VALUE}).")
    private Path data = Path.of("data");

    @Option(
            names = "--bootstrap-server",
            paramLabel = "HOST:PORT",
            description = "Brokers that run, in place of a data folder; several are separated by commas.")
    private @Nullable String bootstrapServer;

    @Option(
            names = "--command-config",
            paramLabel = "FILE",
            description = "Properties of Kafka's clients for these brokers, such as those of a login.")
    private @Nullable Path commandConfig;

    @Option(
            names = "--prefix",
            paramLabel = "PREFIX",
            defaultValue = Topics.DEFAULT_PREFIX,
            description = "What the names of the topics begin with (default: ${DEFAULT-VALUE}).")
    private String prefix = Topics.DEFAULT_PREFIX;

    @Option(names = "--json", description = "Print JSON, in one line.")
    private boolean json;

    @Override
    public final Integer call() throws InterruptedException {
        try {
            requireFile(file);
            ClientSettings kafka = ofFile();
            Logs.kafka(Level.SEVERE);
            if (bootstrapServer != null) {
                report(run(reaching(bootstrapServer, kafka), new Topics(prefix), file));
            } else {
                inFolder(kafka);
            }
            return ExitCodes.DONE;
        } catch (TransferException e) {
            throw new CommandException(ExitCodes.FAILED, String.valueOf(e.getMessage()));
        } catch (NoSuchFileException e) {
            throw new CommandException(ExitCodes.FAILED, "expected a file or a folder, found none: " + e.getMessage());
        } catch (IOException e) {
            throw new CommandException(ExitCodes.FAILED, file + ": " + e.getMessage());
        }
    }

    private ClientSettings ofFile() throws IOException {
        if (commandConfig == null) {
            return ClientSettings.NONE;
        }
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(commandConfig)) {
            properties.load(reader);
        }
        return ClientSettings.NONE.with(properties.stringPropertyNames().stream()
                .collect(Collectors.toMap(Function.identity(), properties::getProperty)));
    }

    private static ClientSettings reaching(String brokers, ClientSettings others) {
        return others.with(ClientSettings.at(brokers));
    }

    private void inFolder(ClientSettings kafka) throws TransferException, IOException, InterruptedException {
        Path folder = data.toAbsolutePath().normalize().resolve(UpCommand.KAFKA_FOLDER);
        requireData(folder);
        EmbeddedBroker broker = BrokerCommand.start(folder, 0, Map.of());
        try {
            Logs.kafka(Level.SEVERE);
            // nobody else has this folder, so whoever is in a group is dead
            int unused = broker.endMemberships();
            report(run(reaching(broker.bootstrapServers(), kafka), new Topics(prefix), file));
        } finally {
            BrokerCommand.stop(broker);
        }
        afterwards(data, prefix);
    }

    /** Complains about the file before anything is started. */
    abstract void requireFile(Path archive) throws IOException;

    /** Complains about the data folder before a broker is started on it. */
    abstract void requireData(Path folder);

    /** Does it, and says how many records there were of each topic. */
    abstract Map<String, Long> run(ClientSettings kafka, Topics topics, Path archive)
            throws TransferException, IOException, InterruptedException;

    /** Says what a person does next with this data folder. */
    abstract void afterwards(Path folder, String topicPrefix);

    private void report(Map<String, Long> records) {
        long all = records.values().stream().mapToLong(Long::longValue).sum();
        if (json) {
            JsonObject told = JsonObject.builder()
                    .put("file", file.toString())
                    .put("records", all)
                    .put("topics", new TreeMap<>(records))
                    .build();
            terminal().out().println(Json.writeText(told));
            return;
        }
        new TreeMap<>(records)
                .forEach((topic, count) -> terminal().out().println(String.format("%10d  %s", count, topic)));
        terminal().out().println(String.format("%10d  in all", all));
    }

    /** Tells a person how far it is, on a line of its own each time. */
    final void tell(String topic, long records) {
        if (records % STEP == 0) {
            terminal().err().println(topic + ": " + records + " records");
        }
    }

    /** For whoever looks on. */
    final void hint(String text) {
        terminal().err().println(text);
    }

    private Terminal terminal() {
        return ((TopCommand) spec.root().userObject()).terminal();
    }
}
