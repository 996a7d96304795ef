package dev.millrace.llm.scripted;

import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A file with one line per attempt, {@code <RFC 3339 time> <callId>}: how a crash test counts which calls were
 * repeated. Each line is with the operating system before the model goes on, so that the death of the process does not
 * lose it.
 */
final class CallLog {

    private final Path file;
    private final ReentrantLock lock = new ReentrantLock();

    CallLog(Path file) {
        this.file = file;
    }

    void append(String callId) throws ModelCallException {
        byte[] line = (Instant.now() + " " + callId + "\n").getBytes(StandardCharsets.UTF_8);
        lock.lock();
        try {
            Files.write(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new ModelCallException(
                    ModelErrorCode.SCRIPT_ERROR, "cannot write the call log " + file + ": " + e, false, null, e);
        } finally {
            lock.unlock();
        }
    }
}
