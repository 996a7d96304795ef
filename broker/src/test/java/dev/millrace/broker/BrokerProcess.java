package dev.millrace.broker;

import java.io.IOException;
import java.nio.file.Path;

/** A broker in a process of its own, for a test that kills it. Prints its address when it is ready. */
final class BrokerProcess {

    private BrokerProcess() {}

    public static void main(String[] args) throws BrokerStartException, IOException {
        EmbeddedBroker broker = EmbeddedBroker.start(Path.of(args[0]), 0);
        System.err.println("ready " + broker.bootstrapServers());
        int end = System.in.read(); // ends with the test, however that ends
        broker.close();
        System.exit(end < 0 ? 0 : 1);
    }

    /** Starts it and returns when it is ready. */
    static Process start(Path folder) throws IOException {
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BrokerProcess.class.getName(),
                        folder.toString())
                .start();
        var errors = process.errorReader();
        StringBuilder said = new StringBuilder();
        for (String line = errors.readLine(); line != null; line = errors.readLine()) {
            if (line.startsWith("ready ")) {
                return process;
            }
            said.append(line).append('\n');
        }
        throw new IOException("The broker process ended before it was ready:\n" + said);
    }
}
