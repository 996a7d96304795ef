package dev.millrace.broker;

import dev.millrace.broker.BrokerStartException.Reason;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.MetadataVersion;
import org.jspecify.annotations.Nullable;

/**
 * The broker's folder on disk, held by at most one broker at a time. Kafka has a lock of its own, but takes it only
 * after its controller has written to the folder, so this one comes first.
 */
final class DataFolder implements AutoCloseable {

    static final int NODE_ID = 1;
    static final String CONTROLLER_LISTENER = "CONTROLLER";

    private static final String LOCK_FILE = ".millrace.lock";
    /** The folder of a partition; one that is being deleted has a longer name. */
    private static final Pattern PARTITION = Pattern.compile("(.+)-\\d+");

    /**
     * What a first start may have left behind when it was killed before it wrote meta.properties, which it does last.
     */
    private static final Set<String> HALF_FORMATTED = Set.of(LOCK_FILE, MetadataLog.FOLDER, "bootstrap.checkpoint");

    private final Path path;
    private final FileChannel lockFile;
    private final FileLock lock;

    private DataFolder(Path path, FileChannel lockFile, FileLock lock) {
        this.path = path;
        this.lockFile = lockFile;
        this.lock = lock;
    }

    /**
     * Complains if somebody else holds the folder; makes none. What holds it now may let go of it, and the other way
     * round.
     */
    static void requireFree(Path folder) throws BrokerStartException {
        Path path = folder.toAbsolutePath().normalize();
        Path lockPath = path.resolve(LOCK_FILE);
        if (!Files.isRegularFile(lockPath)) {
            return;
        }
        try (FileChannel lockFile = FileChannel.open(lockPath, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            try (FileLock lock = lockFile.tryLock()) {
                if (lock == null) {
                    throw inUse(path, holder(lockFile));
                }
            } catch (OverlappingFileLockException e) {
                throw inUse(path, holder(lockFile));
            }
        } catch (IOException e) {
            // a folder that cannot be used is found out, in other words, when it is taken
        }
    }

    /**
     * Takes the folder, creating it if it is missing. The lock goes with {@link #close}, or with the process.
     *
     * @param port where the broker will listen, for who comes next and finds the folder taken
     */
    static DataFolder take(Path folder, int port) throws BrokerStartException {
        Path path = folder.toAbsolutePath().normalize();
        requireOurs(path);
        FileChannel lockFile;
        try {
            makeForUsAlone(path);
            lockFile = FileChannel.open(
                    path.resolve(LOCK_FILE),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw notWritable(path, e);
        }
        FileLock lock = null;
        try {
            lock = lockFile.tryLock();
            if (lock != null) {
                lockFile.truncate(0);
                lockFile.write(
                        ByteBuffer.wrap((ProcessHandle.current().pid() + " " + port).getBytes(StandardCharsets.UTF_8)));
                return new DataFolder(path, lockFile, lock);
            }
        } catch (OverlappingFileLockException e) {
            // held by this very JVM: the same answer as for another one
        } catch (IOException e) {
            closeQuietly(lockFile);
            throw notWritable(path, e);
        }
        String holder = holder(lockFile);
        closeQuietly(lockFile);
        throw inUse(path, holder);
    }

    private static BrokerStartException inUse(Path path, String holder) {
        return new BrokerStartException(
                Reason.FOLDER_LOCKED,
                "The data folder " + path + " is in use by another running broker" + holder
                        + ". Stop that one, or choose another data folder.",
                null);
    }

    /**
     * What is missing of the path, readable by nobody else: all that anybody said and all that tools found lies there.
     */
    private static void makeForUsAlone(Path path) throws IOException {
        if (path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createDirectories(
                    path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } else {
            Files.createDirectories(path);
        }
    }

    Path path() {
        return path;
    }

    /** Writes the cluster's identity and Kafka's current feature levels into a fresh folder; checks an old one. */
    void format() throws BrokerStartException {
        Path metaProperties = path.resolve(MetaPropertiesEnsemble.META_PROPERTIES_NAME);
        if (Files.exists(metaProperties)) {
            verify(metaProperties);
            return;
        }
        try (PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
            new Formatter()
                    .setPrintStream(nowhere)
                    .setNodeId(NODE_ID)
                    .setClusterId(Uuid.randomUuid().toString())
                    .setSupportedFeatures(List.copyOf(Feature.PRODUCTION_FEATURES))
                    .setReleaseVersion(MetadataVersion.latestProduction())
                    .setControllerListenerName(CONTROLLER_LISTENER)
                    .setMetadataLogDirectory(path.toString())
                    .addDirectory(path.toString())
                    .run();
        } catch (IOException e) {
            throw notWritable(path, e);
        } catch (Exception e) {
            throw new BrokerStartException(
                    Reason.OTHER, "Could not set up the data folder " + path + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        try {
            lock.release();
        } catch (IOException e) {
            // closing the file below releases it as well
        }
        closeQuietly(lockFile);
    }

    BrokerStartException damaged(String detail, @Nullable Throwable cause) {
        return new BrokerStartException(
                Reason.FOLDER_DAMAGED,
                "The data folder " + path + " is damaged: " + detail
                        + ". Restore it from a copy, or move it away to start with an empty one.",
                cause);
    }

    private void verify(Path metaProperties) throws BrokerStartException {
        Properties properties = new Properties();
        try (var reader = Files.newBufferedReader(metaProperties)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            throw damaged("cannot read " + metaProperties.getFileName() + " (" + e.getMessage() + ")", e);
        }
        requireValue(properties, "version", "1");
        requireValue(properties, "node.id", Integer.toString(NODE_ID));
        String clusterId = properties.getProperty("cluster.id", "");
        if (clusterId.isEmpty()) {
            throw damaged("expected a cluster.id in " + metaProperties.getFileName() + ", found none", null);
        }
        requireKnownTopics();
    }

    private void requireValue(Properties properties, String key, String expected) throws BrokerStartException {
        String found = properties.getProperty(key);
        if (!expected.equals(found)) {
            throw damaged(
                    "expected " + key + "=" + expected + " in " + MetaPropertiesEnsemble.META_PROPERTIES_NAME
                            + ", found " + (found == null ? "none" : found),
                    null);
        }
    }

    /** Kafka would take the partitions of a topic that it does not know for strays, and delete them. */
    private void requireKnownTopics() throws BrokerStartException {
        try {
            Set<String> known = MetadataLog.readableTopics(path);
            Optional<String> unknown = topicsOnDisk().stream()
                    .filter(topic -> !known.contains(topic))
                    .findFirst();
            if (unknown.isPresent()) {
                throw damaged(
                        MetadataLog.FOLDER + " is missing or broken, it does not know the topic " + unknown.get()
                                + " whose records are there",
                        null);
            }
        } catch (IOException e) {
            throw damaged("cannot read " + MetadataLog.FOLDER + " (" + e.getMessage() + ")", e);
        }
    }

    private List<String> topicsOnDisk() throws IOException {
        try (Stream<Path> entries = Files.list(path)) {
            return entries.filter(Files::isDirectory)
                    .map(folder -> PARTITION.matcher(folder.getFileName().toString()))
                    .filter(Matcher::matches)
                    .map(match -> match.group(1))
                    .filter(topic -> !topic.equals("__cluster_metadata"))
                    .distinct()
                    .sorted()
                    .toList();
        }
    }

    /** Refuses a folder that somebody uses for something else, before anything is written to it. */
    private static void requireOurs(Path path) throws BrokerStartException {
        if (!Files.exists(path)) {
            return;
        }
        if (!Files.isDirectory(path)) {
            throw new BrokerStartException(
                    Reason.FOLDER_FOREIGN, "Expected a folder for the data, found a file: " + path + ".", null);
        }
        if (!Files.isReadable(path) || !Files.isWritable(path)) {
            throw notWritable(path, null);
        }
        if (Files.exists(path.resolve(MetaPropertiesEnsemble.META_PROPERTIES_NAME))) {
            return;
        }
        try (Stream<Path> entries = Files.list(path)) {
            List<String> foreign = entries.map(entry -> entry.getFileName().toString())
                    .filter(name -> !HALF_FORMATTED.contains(name))
                    .sorted()
                    .toList();
            if (!foreign.isEmpty()) {
                throw new BrokerStartException(
                        Reason.FOLDER_FOREIGN,
                        "Expected an empty folder or the data of a broker in " + path + ", found " + foreign.size()
                                + " other entries (such as " + foreign.get(0) + ") and no "
                                + MetaPropertiesEnsemble.META_PROPERTIES_NAME
                                + ". Choose another data folder; nothing was changed in this one.",
                        null);
            }
        } catch (IOException e) {
            throw notWritable(path, e);
        }
    }

    private static BrokerStartException notWritable(Path path, @Nullable IOException cause) {
        return new BrokerStartException(
                Reason.FOLDER_NOT_WRITABLE,
                "Cannot write to the data folder " + path
                        + (cause == null ? "" : " (" + cause + ")")
                        + ". Check its permissions and free space, or choose another data folder.",
                cause);
    }

    private static String holder(FileChannel lockFile) {
        try {
            ByteBuffer content = ByteBuffer.allocate(32);
            lockFile.read(content, 0);
            String[] words = new String(content.array(), 0, content.position(), StandardCharsets.UTF_8)
                    .trim()
                    .split(" ", -1);
            return words[0].isEmpty()
                    ? ""
                    : " (process " + words[0] + (words.length == 1 ? "" : ", Kafka port " + words[1]) + ")";
        } catch (IOException e) {
            return ""; // some systems do not let others read a locked file
        }
    }

    private static void closeQuietly(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // nothing was written through it that matters
        }
    }
}
