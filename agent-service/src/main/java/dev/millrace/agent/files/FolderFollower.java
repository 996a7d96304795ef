package dev.millrace.agent.files;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of YAML files, looked at again and again. A change counts when two looks in a row have seen the same, so
 * that no file is read half written; looking is better than being told, since folders that are mounted into a container
 * do not tell. A folder that vanishes changes nothing.
 */
final class FolderFollower implements AutoCloseable {

    /** The longest file, in characters. */
    private static final int MAX_CHARS = 1_000_000;

    private static final Logger LOGGER = LoggerFactory.getLogger(FolderFollower.class);
    private static final int MAX_BYTES_PER_CHAR = 4;

    private final Path folder;
    private final String what;
    private final Duration interval;
    private final Taker taker;
    private final Thread thread;

    private Map<String, String> before = Map.of();
    private Map<String, String> applied = Map.of();
    private String complaint = "";
    private volatile boolean closed;

    /** Takes what the files say. */
    @FunctionalInterface
    interface Taker {
        /**
         * The files have changed.
         *
         * @param now what they say, by name, in the order of their names
         * @param last what they said when it was last taken
         * @return false if it is to be told again with the next look
         */
        boolean take(Map<String, String> now, Map<String, String> last) throws InterruptedException;
    }

    /**
     * Looks at nothing yet.
     *
     * @param folder need not be there
     * @param what lies in it, for people
     * @param interval between two looks, more than zero
     */
    FolderFollower(Path folder, String what, Duration interval, Taker taker) {
        this.folder = folder;
        this.what = what;
        this.interval = interval;
        this.taker = taker;
        this.thread = Thread.ofPlatform().name(what + "-folder").daemon().unstarted(this::run);
    }

    /** Goes on looking on a thread of its own. Once. */
    void start() {
        thread.start();
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }

    private void run() {
        try {
            while (!closed) {
                TimeUnit.MILLISECONDS.sleep(interval.toMillis());
                try {
                    look(false);
                } catch (RuntimeException e) {
                    LOGGER.atError().addKeyValue("folder", folder).setCause(e).log("A look at a folder broke");
                }
            }
        } catch (InterruptedException e) {
            LOGGER.debug("Stopped");
        }
    }

    /**
     * One look.
     *
     * @param atOnce whether a change counts although no earlier look has seen it
     */
    void look(boolean atOnce) throws InterruptedException {
        Map<String, String> now = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.yaml")) {
            for (Path file : files) {
                if (Files.isRegularFile(file)) {
                    now.put(file.getFileName().toString(), text(file));
                }
            }
            complaint = "";
        } catch (NoSuchFileException e) {
            if (!applied.isEmpty()) {
                complain("the folder is gone, or a file of it just now; its " + what + " stay as they are");
            }
            return;
        } catch (IOException | DirectoryIteratorException e) {
            complain("cannot be read: " + e);
            return;
        }
        boolean settled = atOnce || now.equals(before);
        before = now;
        if (settled && !now.equals(applied) && taker.take(now, applied)) {
            applied = now;
        }
    }

    /** What is longer is no good. */
    static void requireShort(String text) throws InvalidAgentException {
        if (text.length() > MAX_CHARS) {
            throw new InvalidAgentException("expected at most " + MAX_CHARS + " characters, found " + text.length());
        }
    }

    /** A file that is too long, or no text, is no good like any other that is none. */
    private static String text(Path file) throws IOException {
        if (Files.size(file) > (long) MAX_CHARS * MAX_BYTES_PER_CHAR) {
            return "the file has " + Files.size(file) + " bytes";
        }
        try {
            return Files.readString(file);
        } catch (MalformedInputException e) {
            return "the file is no UTF-8";
        }
    }

    private void complain(String problem) {
        if (!problem.equals(complaint)) {
            complaint = problem;
            LOGGER.atError()
                    .addKeyValue("folder", folder)
                    .addKeyValue("problem", problem)
                    .log("A folder cannot be looked at");
        }
    }
}
