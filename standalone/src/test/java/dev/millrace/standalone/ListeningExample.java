package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs a program of {@code examples/listening} with Node, against a Millrace that runs. */
final class ListeningExample {

    private static final int LONGEST_SECONDS = 90;

    private ListeningExample() {}

    /**
     * What it prints.
     *
     * @param folder of the test, where a project with the client is put
     * @throws AssertionError if it does not end well, or not in time
     */
    static String run(Path folder, String program, String url) throws IOException, InterruptedException {
        Path clone = ServiceProcess.repository();
        Path project = Files.createDirectories(folder.resolve("listening"));
        Path client = Files.createDirectories(project.resolve("node_modules/@millrace/client"));
        try (Stream<Path> files = Files.list(clone.resolve("clients/typescript"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, client.resolve(file.getFileName().toString()));
            }
        }
        Files.writeString(project.resolve("package.json"), "{\"type\": \"module\", \"private\": true}");
        Files.copy(clone.resolve("examples/listening").resolve(program), project.resolve(program));
        Path output = project.resolve("output.txt");
        ProcessBuilder builder = new ProcessBuilder(List.of("node", program))
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("MILLRACE_URL", url);
        Process process = builder.start();
        boolean ended = process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly().onExit().join();
        }
        String said = Files.readString(output);
        assertThat(ended && process.exitValue() == 0).as(said).isTrue();
        return said;
    }
}
