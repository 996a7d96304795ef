package dev.millrace.agent.files;

import dev.millrace.agent.schedule.ScheduleBook;
import dev.millrace.schemas.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of schedules, {@code *.yaml} each, looked at again and again: what a file says is defined as if it had been
 * put by HTTP, and removed when the file says so no more. A file that is no good leaves its schedules as they were, and
 * so does what was defined otherwise. What has gone from the files while nobody looked stays.
 */
public final class ScheduleFolder implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(ScheduleFolder.class);

    private final Path folder;
    private final ScheduleBook book;
    private final FolderFollower follower;
    /** Which schedules the files have, by the name of the file; of one that is no good those that it had before. */
    private Map<String, Set<Name>> defined = Map.of();

    /** A schedule by its tenant and its name. */
    private record Name(String namespace, String name) implements Comparable<Name> {
        @Override
        public int compareTo(Name other) {
            int order = namespace.compareTo(other.namespace);
            return order == 0 ? name.compareTo(other.name) : order;
        }
    }

    /**
     * Looks at nothing yet.
     *
     * @param ready whether the book knows the schedules that there are; until then nothing is defined
     * @param interval between two looks, more than zero
     */
    public ScheduleFolder(Path folder, ScheduleBook book, BooleanSupplier ready, Duration interval) {
        this.folder = folder;
        this.book = book;
        this.follower = new FolderFollower(
                folder, "schedules", interval, (now, last) -> ready.getAsBoolean() && apply(now, last));
    }

    /** Goes on looking on a thread of its own. Once. */
    public void start() {
        follower.start();
    }

    @Override
    public void close() {
        follower.close();
    }

    /** One look, at which a change counts although no earlier look has seen it. */
    void look() throws InterruptedException {
        follower.look(true);
    }

    /**
     * Removes what has gone, then defines what there is.
     *
     * @return false if the brokers were away, so that it is to be done again
     */
    private boolean apply(Map<String, String> now, Map<String, String> last) throws InterruptedException {
        Map<String, Map<Name, JsonObject>> read = new TreeMap<>();
        Map<String, Set<Name>> next = new TreeMap<>();
        for (Map.Entry<String, String> file : now.entrySet()) {
            try {
                Map<Name, JsonObject> schedules = read(file.getValue());
                read.put(file.getKey(), schedules);
                next.put(file.getKey(), new TreeSet<>(schedules.keySet()));
            } catch (InvalidAgentException e) {
                next.put(file.getKey(), defined.getOrDefault(file.getKey(), Set.of()));
                if (!file.getValue().equals(last.get(file.getKey()))) {
                    complain(file.getKey(), String.valueOf(e.getMessage()));
                }
            }
        }
        Set<Name> gone = new TreeSet<>();
        defined.values().forEach(gone::addAll);
        next.values().forEach(gone::removeAll);
        boolean stored = true;
        for (Name name : gone) {
            stored &= !(book.remove(name.namespace(), name.name()) instanceof ScheduleBook.NotStored);
        }
        if (!stored) {
            return false; // what is defined is as it was, so that the rest goes with the next look
        }
        for (Map.Entry<String, Map<Name, JsonObject>> file : read.entrySet()) {
            for (Map.Entry<Name, JsonObject> one : file.getValue().entrySet()) {
                stored &= put(file.getKey(), one.getKey(), one.getValue());
            }
        }
        defined = next;
        LOGGER.atInfo()
                .addKeyValue("folder", folder)
                .addKeyValue("files", now.keySet())
                .addKeyValue("stored", stored)
                .log("Schedules are as their files say");
        return stored;
    }

    /** False if it could not be stored now. */
    private boolean put(String file, Name name, JsonObject fields) throws InterruptedException {
        ScheduleBook.Outcome outcome = book.put(name.namespace(), name.name(), fields);
        if (outcome instanceof ScheduleBook.Refused refused) {
            complain(file, "schedules." + name.name() + ": " + String.join("; ", refused.problems()));
        }
        return !(outcome instanceof ScheduleBook.NotStored);
    }

    private static Map<Name, JsonObject> read(String text) throws InvalidAgentException {
        Map<Name, JsonObject> schedules = new LinkedHashMap<>();
        for (ScheduleFile.Entry entry : ScheduleFile.read(text)) {
            schedules.put(new Name(entry.namespace(), entry.name()), entry.fields());
        }
        return schedules;
    }

    private void complain(String file, String problem) {
        LOGGER.atError()
                .addKeyValue("file", folder.resolve(file))
                .addKeyValue("problem", problem)
                .log("A file of schedules is no good; its schedules stay as they were");
    }
}
