package dev.millrace.bench.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The logs of the scripted model: one line per attempt, {@code <time> <callId>}, of every process that makes model
 * calls.
 */
final class CallLogs {

    private final List<Path> logs;

    /** The files need not be there yet. */
    CallLogs(List<Path> logs) {
        this.logs = List.copyOf(logs);
    }

    /** When each call was made, in order of time, by its id. */
    Map<String, List<Instant>> attempts() throws IOException {
        Map<String, List<Instant>> attempts = new HashMap<>();
        for (Path log : logs) {
            if (Files.exists(log)) {
                for (String line : Files.readAllLines(log)) {
                    int space = line.indexOf(' ');
                    if (space > 0) {
                        attempts.computeIfAbsent(line.substring(space + 1), id -> new ArrayList<>())
                                .add(Instant.parse(line.substring(0, space)));
                    }
                }
            }
        }
        attempts.values().forEach(times -> times.sort(null));
        return attempts;
    }
}
