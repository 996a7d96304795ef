package dev.millrace.gateway.watch;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardWatchEventKinds.ENTRY_CREATE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_DELETE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_MODIFY;

import dev.millrace.schemas.Ids;
import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the files of a folder and of all folders in it, and tells what has changed once a file was left alone for
 * a while. The system only says where to look: what is told is the difference between what a file was when it was last
 * told of and what it is now, so nothing is told twice, and nothing is lost when the system loses count. Links are
 * neither followed nor told of. What is there at the start is no change; what happens while nobody watches is lost.
 */
public final class FolderWatch implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(FolderWatch.class);
    private static final Duration AGAIN = Duration.ofSeconds(2);
    private static final long AT_LEAST_MS = 1;
    private static final long AT_MOST_MS = 1_000;

    private final Settings settings;
    private final Predicate<FileChange> teller;
    private final IgnoredPaths ignored;
    private final WatchService watcher;
    private final Thread thread;
    // all below: of the thread, once it runs
    private final Map<WatchKey, Path> folders = new HashMap<>();
    private final Map<Path, Stamp> known = new HashMap<>();
    private final Map<Path, Waiting> waiting = new LinkedHashMap<>();
    private boolean full;

    /**
     * What is watched.
     *
     * @param name for people
     * @param folder has to be there
     * @param debounce how long a file has to be left alone before it is told of
     * @param ignore patterns of what is passed over
     * @param maxFiles so many files and folders are watched; others are passed over
     */
    public record Settings(String name, Path folder, Duration debounce, List<String> ignore, int maxFiles) {
        public Settings {
            ignore = List.copyOf(ignore);
            if (!Files.isDirectory(folder)) {
                throw new IllegalArgumentException("folder: expected a folder that is there, found " + folder);
            }
            if (debounce.toMillis() < 1) {
                throw new IllegalArgumentException("debounce: expected 1 ms or more, found " + debounce);
            }
            if (maxFiles < 1) {
                throw new IllegalArgumentException("max-files: expected 1 or more, found " + maxFiles);
            }
        }
    }

    /** What tells whether a file has changed. */
    private record Stamp(
            FileTime modified, long size, @Nullable Object file) {}

    /** A file that is to be told of, under this id, when this moment of the system's clock has come. */
    private record Waiting(String id, long atNanos) {}

    /**
     * Looks at what there is, and watches from then on.
     *
     * @param teller is told of each change, one after the other; false = it is to be told again a little later
     * @throws IOException if the system cannot watch it
     */
    public FolderWatch(Settings settings, Predicate<FileChange> teller) throws IOException {
        this.settings = settings;
        this.teller = teller;
        this.ignored = new IgnoredPaths(settings.ignore());
        this.watcher = settings.folder().getFileSystem().newWatchService();
        look(settings.folder(), known::put);
        this.thread =
                Thread.ofPlatform().daemon().name("watch-" + settings.name()).start(this::run);
        LOGGER.atInfo()
                .addKeyValue("watch", settings.name())
                .addKeyValue("folder", settings.folder())
                .addKeyValue("files", known.size())
                .log("A folder is watched");
    }

    private void run() {
        try {
            while (true) {
                WatchKey key = watcher.poll(patienceMs(), TimeUnit.MILLISECONDS);
                if (key != null) {
                    take(key);
                }
                tell();
            }
        } catch (InterruptedException | ClosedWatchServiceException e) {
            LOGGER.debug("Stopped");
        }
    }

    private long patienceMs() {
        long next = waiting.values().stream().mapToLong(Waiting::atNanos).min().orElse(Long.MAX_VALUE);
        long ms = next == Long.MAX_VALUE ? AT_MOST_MS : TimeUnit.NANOSECONDS.toMillis(next - System.nanoTime());
        return Math.clamp(ms, AT_LEAST_MS, AT_MOST_MS);
    }

    private void take(WatchKey key) {
        Path folder = folders.get(key);
        for (WatchEvent<?> event : key.pollEvents()) {
            if (folder == null) {
                continue;
            }
            if (event.context() instanceof Path name) {
                changed(folder.resolve(name));
            } else {
                LOGGER.atWarn().addKeyValue("watch", settings.name()).log("Changes were lost; all files are looked at");
                List.copyOf(known.keySet()).forEach(this::expect);
                look(settings.folder(), (file, stamp) -> expect(file));
            }
        }
        if (!key.reset()) {
            folders.remove(key); // the folder is gone
        }
    }

    private void changed(Path place) {
        if (Files.isDirectory(place, NOFOLLOW_LINKS)) {
            look(place, (file, stamp) -> expect(file));
        } else {
            expect(place);
            // a folder that is gone takes its files along
            known.keySet().stream()
                    .filter(file -> file.startsWith(place))
                    .toList()
                    .forEach(this::expect);
        }
    }

    /** Tells of it in a while; each further change puts that off. */
    private void expect(Path file) {
        if (!ignored.has(settings.folder().relativize(file))) {
            Waiting before = waiting.get(file);
            waiting.put(
                    file,
                    new Waiting(
                            before == null ? Ids.random() : before.id(),
                            System.nanoTime() + settings.debounce().toNanos()));
        }
    }

    private void tell() {
        long now = System.nanoTime();
        for (Map.Entry<Path, Waiting> due : List.copyOf(waiting.entrySet())) {
            if (due.getValue().atNanos() - now <= 0) {
                waiting.remove(due.getKey());
                if (!tell(due.getKey(), due.getValue().id())) {
                    waiting.put(due.getKey(), new Waiting(due.getValue().id(), now + AGAIN.toNanos()));
                }
            }
        }
    }

    /** False if it is to be told again. */
    private boolean tell(Path file, String id) {
        Stamp before = known.get(file);
        Stamp now = stamp(file);
        if (now == null ? before == null : now.equals(before)) {
            return true;
        }
        if (before == null && isFull()) {
            return true;
        }
        FileChange.Kind kind = before == null
                ? FileChange.Kind.CREATED
                : now == null ? FileChange.Kind.DELETED : FileChange.Kind.MODIFIED;
        String path = settings.folder()
                .relativize(file)
                .toString()
                .replace(file.getFileSystem().getSeparator(), "/");
        if (!told(new FileChange(id, path, kind, now == null ? 0 : now.size()))) {
            return false;
        }
        if (now == null) {
            known.remove(file);
            full = false;
        } else {
            known.put(file, now);
        }
        return true;
    }

    private boolean told(FileChange change) {
        try {
            return teller.test(change);
        } catch (RuntimeException e) {
            LOGGER.atError().addKeyValue("watch", settings.name()).setCause(e).log("A change could not be told");
            return true;
        }
    }

    private boolean isFull() {
        if (known.size() + folders.size() < settings.maxFiles()) {
            return false;
        }
        if (!full) {
            full = true;
            LOGGER.atWarn()
                    .addKeyValue("watch", settings.name())
                    .addKeyValue("files", known.size())
                    .log("There are more files than are to be watched; others are passed over");
        }
        return true;
    }

    /** What a file is now; {@code null} = there is none, or a link or a folder stands there. */
    private static @Nullable Stamp stamp(Path file) {
        try {
            BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class, NOFOLLOW_LINKS);
            return now.isRegularFile() ? stamp(now) : null;
        } catch (IOException e) {
            return null;
        }
    }

    private static Stamp stamp(BasicFileAttributes now) {
        return new Stamp(now.lastModifiedTime(), now.size(), now.fileKey());
    }

    /** Watches a folder and all in it, and notes their files. */
    private void look(Path from, BiConsumer<Path, Stamp> noter) {
        try {
            Files.walkFileTree(from, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
                        throws IOException {
                    boolean passedOver = !folder.equals(settings.folder())
                            && ignored.has(settings.folder().relativize(folder));
                    if (passedOver || isFull()) {
                        return FileVisitResult.SKIP_SUBTREE;
                    }
                    folders.put(folder.register(watcher, ENTRY_CREATE, ENTRY_MODIFY, ENTRY_DELETE), folder);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    boolean wanted = attributes.isRegularFile()
                            && !ignored.has(settings.folder().relativize(file));
                    if (wanted && (known.containsKey(file) || !isFull())) {
                        noter.accept(file, stamp(attributes));
                    }
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e) {
                    return FileVisitResult.CONTINUE; // gone while we looked, or not ours to read
                }
            });
        } catch (IOException e) {
            LOGGER.atError()
                    .addKeyValue("watch", settings.name())
                    .addKeyValue("folder", from)
                    .setCause(e)
                    .log("A folder cannot be watched");
        }
    }

    /** Stops; what waits to be told is not told. */
    @Override
    public void close() {
        thread.interrupt();
        try {
            watcher.close();
        } catch (IOException e) {
            LOGGER.atDebug().setCause(e).log("A watch did not close");
        }
    }
}
