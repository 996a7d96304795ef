package dev.millrace.agent.files;

import dev.millrace.agent.rules.Rule;
import dev.millrace.agent.rules.Rules;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of rules, {@code *.yaml} each, looked at again and again. Files come in the order of their names, on top of
 * the rules that are built in. One that is no good leaves its rules as they were; a change counts when two looks in a
 * row have seen the same. Each instance has its own look: all of them are given the same folder.
 */
public final class RuleFolder implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(RuleFolder.class);
    private static final int MAX_BYTES_PER_CHAR = 4;

    private final Path folder;
    private final Rules rules;
    private final Duration interval;
    private final Thread thread =
            Thread.ofPlatform().name("rules-folder").daemon().unstarted(this::run);
    /** What the files say, by name; of one that is no good what it said before. */
    private Map<String, List<Rule>> inForce = Map.of();

    private Map<String, String> before = Map.of();
    private Map<String, String> applied = Map.of();
    private String complaint = "";
    private volatile boolean closed;

    /**
     * Looks at nothing yet.
     *
     * @param interval between two looks, more than zero
     */
    public RuleFolder(Path folder, Rules rules, Duration interval) {
        this.folder = folder;
        this.rules = rules;
        this.interval = interval;
    }

    /** Puts in force what there is now, and goes on looking on a thread of its own. Once. */
    public void start() {
        look(true);
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
                    LOGGER.atError()
                            .addKeyValue("folder", folder)
                            .setCause(e)
                            .log("A look at the folder of rules broke");
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
    void look(boolean atOnce) {
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
                complain("the folder is gone, or a file of it just now; its rules stay as they are");
            }
            return;
        } catch (IOException | DirectoryIteratorException e) {
            complain("cannot be read: " + e);
            return;
        }
        boolean settled = atOnce || now.equals(before);
        before = now;
        if (settled && !now.equals(applied)) {
            apply(now);
        }
    }

    /** A file that is too long, or no text, is no good like any other that is none. */
    private static String text(Path file) throws IOException {
        if (Files.size(file) > (long) RuleFile.MAX_CHARS * MAX_BYTES_PER_CHAR) {
            return "the file has " + Files.size(file) + " bytes";
        }
        try {
            return Files.readString(file);
        } catch (MalformedInputException e) {
            return "the file is no UTF-8";
        }
    }

    private void apply(Map<String, String> now) {
        Map<String, List<Rule>> next = new HashMap<>();
        now.forEach((name, text) -> {
            try {
                next.put(name, RuleFile.read(text));
            } catch (InvalidAgentException e) {
                next.put(name, inForce.getOrDefault(name, List.of()));
                if (!text.equals(applied.get(name))) {
                    LOGGER.atError()
                            .addKeyValue("file", folder.resolve(name))
                            .addKeyValue("problem", e.getMessage())
                            .log("A file of rules is no good; its rules stay as they were");
                }
            }
        });
        List<Rule> all = new ArrayList<>();
        new TreeMap<>(next).values().forEach(all::addAll);
        rules.useFiles(all);
        inForce = next;
        applied = now;
        LOGGER.atInfo()
                .addKeyValue("folder", folder)
                .addKeyValue(
                        "rules",
                        rules.current().rules().stream().map(Rule::reference).toList())
                .log("Rules are in force");
    }

    private void complain(String problem) {
        if (!problem.equals(complaint)) {
            complaint = problem;
            LOGGER.atError()
                    .addKeyValue("folder", folder)
                    .addKeyValue("problem", problem)
                    .log("No look at rules");
        }
    }
}
