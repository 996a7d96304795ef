package dev.millrace.broker;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

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
        Process process = launch(folder);
        linesUntil(process, line -> line.startsWith("ready "));
        return process;
    }

    /** Starts it and returns at once. */
    static Process launch(Path folder, String... jvmArgs) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of(jvmArgs));
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), BrokerProcess.class.getName(), folder.toString()));
        return new ProcessBuilder(command).start();
    }

    /** What it says, up to the first line of this kind. */
    static List<String> linesUntil(Process process, Predicate<String> last) throws IOException {
        var errors = process.errorReader();
        List<String> said = new ArrayList<>();
        for (String line = errors.readLine(); line != null; line = errors.readLine()) {
            said.add(line);
            if (last.test(line)) {
                return said;
            }
        }
        throw new IOException("The broker process ended before that:\n" + String.join("\n", said));
    }
}
