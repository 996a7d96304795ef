package dev.millrace.requests;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/** A worker in a process of its own, for a test that kills it. Takes one call, says which, and never ends it. */
final class WorkerProcess {

    private WorkerProcess() {}

    public static void main(String[] args) throws IOException {
        Topics topics = new Topics(args[1]);
        RequestWorker worker = RequestWorker.start(
                WorkerSettings.of(ClientSettings.at(args[0]), topics, "tool", 1),
                request -> {
                    System.err.println("begun " + request.callId());
                    new CountDownLatch(1).await();
                    throw new IllegalStateException("nobody counts down");
                },
                new SimpleMeterRegistry());
        int end = System.in.read(); // ends with the test, however that ends
        worker.close();
        System.exit(end < 0 ? 0 : 1);
    }

    static Process start(String bootstrapServers, Topics topics) throws IOException {
        return new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        WorkerProcess.class.getName(),
                        bootstrapServers,
                        topics.prefix())
                .start();
    }

    /** Waits until the process has begun this call. */
    static void awaitBegun(Process process, String callId) throws IOException {
        BufferedReader errors = process.errorReader();
        StringBuilder said = new StringBuilder();
        for (String line = errors.readLine(); line != null; line = errors.readLine()) {
            if (line.equals("begun " + callId)) {
                return;
            }
            said.append(line).append('\n');
        }
        throw new IOException("The worker process ended before it had begun " + callId + ":\n" + said);
    }
}
