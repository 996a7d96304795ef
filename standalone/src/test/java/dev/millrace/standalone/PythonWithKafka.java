package dev.millrace.standalone;

import dev.millrace.testing.NpmPackages;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** The Python of this machine that has Kafka's client. */
final class PythonWithKafka {

    private PythonWithKafka() {}

    /** The first on the PATH; if there is none, that is said in a line that begins with {@code SKIPPED}. */
    static Optional<String> find(String test) {
        Optional<String> found = Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .map(place -> Path.of(place, "python3"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .filter(python -> NpmPackages.runs(python, "-c", "import confluent_kafka"))
                .findFirst();
        if (found.isEmpty()) {
            System.err.println("SKIPPED: " + test + " needs a python3 on the PATH with confluent-kafka"
                    + " (Debian: apt-get install python3-confluent-kafka)");
        }
        return found;
    }
}
