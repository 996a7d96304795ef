package dev.millrace.agent.files;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Agents;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of agents, looked at again and again: what changes in it is published, what is gone is taken back, and a
 * file that is no good changes nothing but {@link #problems}. An instance that has such a folder speaks for all agents
 * that files define; one without says nothing. A folder that vanishes while it is watched takes nothing back.
 *
 * <p>Looking is better than being told here: folders that are mounted into a container or lie on a network drive do not
 * tell. A change counts when two looks in a row have seen the same, so that a file is not read half written.
 */
public final class AgentFolder implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(AgentFolder.class);
    private static final String FILE = "AGENT.md";
    private static final int MAX_BYTES_PER_CHAR = 4;

    private final Path folder;
    private final Agents agents;
    private final DefinitionPublisher publisher;
    private final Duration interval;
    private final Map<String, String> problems = new ConcurrentHashMap<>();
    private final Thread thread =
            Thread.ofPlatform().name("agents-folder").daemon().unstarted(this::run);
    private Map<String, Stamp> before = Map.of();
    private Map<String, Stamp> applied = Map.of();
    private boolean there;
    private volatile boolean again;
    private volatile boolean closed;

    /** What tells whether a file has changed. */
    private record Stamp(
            FileTime modified, long size, @Nullable Object file) {}

    /**
     * A file that is no good.
     *
     * @param file where it lies
     * @param problem what was expected and found
     */
    public record Problem(String file, String problem) {}

    /**
     * Looks at nothing yet.
     *
     * @param agents what is in force
     * @param interval between two looks, more than zero
     */
    public AgentFolder(Path folder, Agents agents, DefinitionPublisher publisher, Duration interval) {
        if (interval.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "millrace.agent.agents-reload: expected 1 ms or more, found " + interval);
        }
        this.folder = folder;
        this.agents = agents;
        this.publisher = publisher;
        this.interval = interval;
    }

    /** Publishes what there is now, and goes on looking on a thread of its own. Once. */
    public void start() throws InterruptedException {
        look(true);
        thread.start();
    }

    /** Publishes everything once more with the next look, since what was published is lost. For any thread. */
    public void publishAgain() {
        again = true;
    }

    /** The files that are no good, by path. */
    public List<Problem> problems() {
        return new TreeMap<>(problems)
                .entrySet().stream()
                        .map(entry -> new Problem(entry.getKey(), entry.getValue()))
                        .toList();
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
                lookAgain();
            }
        } catch (InterruptedException e) {
            LOGGER.debug("Stopped");
        }
    }

    private void lookAgain() throws InterruptedException {
        try {
            look(false);
        } catch (RuntimeException e) {
            LOGGER.atError().addKeyValue("folder", folder).setCause(e).log("A look at the agents' folder broke");
            complain(folder, "cannot be read: " + e);
        }
    }

    /**
     * One look.
     *
     * @param atOnce whether a change counts although no earlier look has seen it
     */
    void look(boolean atOnce) throws InterruptedException {
        Map<String, Stamp> now = stamps();
        if (now == null) {
            return;
        }
        if (again) {
            again = false;
            there = false;
            applied = Map.of();
        }
        boolean settled = atOnce || now.equals(before);
        before = now;
        if (settled && (!there || !now.equals(applied))) {
            apply(now);
        }
    }

    /** What there is, by the name of the agent; {@code null} = the folder is not there or cannot be read. */
    private @Nullable Map<String, Stamp> stamps() {
        Map<String, Stamp> stamps = new HashMap<>();
        try (DirectoryStream<Path> children = Files.newDirectoryStream(folder)) {
            for (Path child : children) {
                String name = child.getFileName().toString();
                Path file = child.resolve(FILE);
                if (!name.startsWith(".") && Files.isRegularFile(file)) {
                    BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
                    stamps.put(name, new Stamp(attributes.lastModifiedTime(), attributes.size(), attributes.fileKey()));
                }
            }
            problems.remove(folder.toString());
            return stamps;
        } catch (NoSuchFileException e) {
            // a file that went away while we looked is seen by the next look
            if (there && !Files.exists(folder)) {
                complain(folder, "the folder is gone; its agents stay as they are");
            }
            return null;
        } catch (IOException | DirectoryIteratorException e) {
            complain(folder, "cannot be read: " + e);
            return null;
        }
    }

    private void apply(Map<String, Stamp> now) throws InterruptedException {
        Map<String, Stamp> done = new HashMap<>();
        for (Map.Entry<String, Stamp> entry : now.entrySet()) {
            String name = entry.getKey();
            if (entry.getValue().equals(applied.get(name)) || take(name)) {
                done.put(name, entry.getValue());
            }
        }
        boolean complete = done.size() == now.size();
        Set<String> gone = new HashSet<>(agents.namesFromFiles());
        gone.removeAll(now.keySet());
        for (String name : gone) {
            if (publisher.publish(AgentRecords.key(name), null)) {
                agents.drop(name);
            } else {
                complete = false;
            }
        }
        Set<String> files = new HashSet<>();
        now.keySet().forEach(name -> files.add(file(name).toString()));
        problems.keySet().removeIf(file -> !files.contains(file) && !file.equals(folder.toString()));
        applied = Map.copyOf(done);
        there = complete;
    }

    /** False if it is to be tried again. */
    private boolean take(String name) throws InterruptedException {
        Path file = file(name);
        try {
            AgentFile read = AgentFile.ofText(name, text(file));
            if (!publish(read)) {
                return false;
            }
            problems.remove(file.toString());
        } catch (NoSuchFileException e) {
            return false;
        } catch (MalformedInputException e) {
            complain(file, "expected UTF-8 text, found other bytes");
        } catch (IOException e) {
            complain(file, "cannot be read: " + e);
        } catch (InvalidAgentException e) {
            complain(file, String.valueOf(e.getMessage()));
        }
        return true;
    }

    private static String text(Path file) throws IOException, InvalidAgentException {
        long size = Files.size(file);
        if (size > (long) AgentFile.MAX_CHARS * MAX_BYTES_PER_CHAR) {
            throw new InvalidAgentException(
                    "expected at most " + AgentFile.MAX_CHARS + " characters, found " + size + " bytes");
        }
        return Files.readString(file);
    }

    private boolean publish(AgentFile read) throws InterruptedException {
        AgentDefinition agent = read.definition();
        boolean inForce = agents.current(agent.name())
                .filter(current ->
                        current.fromFile() && current.definition().reference().equals(agent.reference()))
                .isPresent();
        if (inForce) {
            return true;
        }
        if (!publisher.publish(AgentRecords.key(agent), read.toJson())
                || !publisher.publish(AgentRecords.key(agent.name()), AgentRecords.inForce(agent))) {
            return false;
        }
        agents.add(agent);
        agents.use(agent.name(), agent.version());
        return true;
    }

    private Path file(String name) {
        return folder.resolve(name).resolve(FILE);
    }

    private void complain(Path file, String problem) {
        if (!problem.equals(problems.put(file.toString(), problem))) {
            LOGGER.atError()
                    .addKeyValue("file", file)
                    .addKeyValue("problem", problem)
                    .log("An agent's file is no good; what was in force before stays");
        }
    }
}
