package dev.millrace.standalone;

import dev.millrace.broker.BrokerStartException;
import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.standalone.cli.CommandException;
import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.standalone.cli.Terminal;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace broker}: only the broker, for tests that run the services as processes of their own. */
@Command(name = "broker", hidden = true, description = "Runs a Kafka broker and nothing else.")
final class BrokerCommand implements Callable<Integer> {

    private static final String LOOPBACK = "127.0.0.1";

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "9092",
            description = "Where it listens on the loopback address; 0 = any free port (default: ${DEFAULT-VALUE}).")
    private int port = 9092;

    @Option(
            names = "--data",
            paramLabel = "FOLDER",
            defaultValue = "./data",
            description = "Where its data lives (default: ${DEFAULT-VALUE}).")
    private Path data = Path.of("data");

    @Option(
            names = "--advertised-host",
            paramLabel = "HOST",
            defaultValue = LOOPBACK,
            description =
                    "Where clients are told to connect, if they come by way of a relay (default: ${DEFAULT-VALUE}).")
    private String advertisedHost = LOOPBACK;

    private final Terminal terminal;

    BrokerCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() throws InterruptedException {
        Path folder = data.resolve(UpCommand.KAFKA_FOLDER);
        EmbeddedBroker broker = quietly(() -> EmbeddedBroker.start(folder, port, advertisedHost));
        CountDownLatch end = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().name("broker-stop").unstarted(() -> {
                    end.countDown();
                    stop(broker);
                }));
        broker.failed().thenAccept(fault -> {
            terminal.err().println("millrace: the broker cannot go on: " + fault.getMessage());
            end.countDown();
        });
        terminal.out().println("Kafka is ready at " + broker.bootstrapServers());
        end.await();
        return ExitCodes.FAILED;
    }

    /** Complains if another broker has its data in this folder now. */
    static void requireFree(Path folder) {
        try {
            EmbeddedBroker.requireFree(folder);
        } catch (BrokerStartException e) {
            throw new CommandException(ExitCodes.FAILED, String.valueOf(e.getMessage()));
        }
    }

    /** Starts a broker with these settings of Kafka's, without a word from it: what is wrong is in the exception. */
    static EmbeddedBroker start(Path folder, int port, Map<String, String> settings) {
        return quietly(() -> EmbeddedBroker.start(folder, port, settings));
    }

    private interface Start {
        EmbeddedBroker broker() throws BrokerStartException;
    }

    private static EmbeddedBroker quietly(Start start) {
        Logs.kafka(Level.OFF);
        try {
            return start.broker();
        } catch (BrokerStartException e) {
            throw new CommandException(ExitCodes.FAILED, String.valueOf(e.getMessage()));
        } finally {
            Logs.kafka(Level.WARNING);
        }
    }

    /** Stops a broker; it has nothing to say then that anybody could act on. */
    static void stop(EmbeddedBroker broker) {
        Logs.kafka(Level.OFF);
        broker.close();
    }
}
