package dev.millrace.standalone.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MemoryDocument;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Documents of memory as files, {@code <namespace>/<path>}, and beside them from which version each comes. Nothing is
 * read or written through a link, and no file has another place than memory itself has.
 */
final class MemoryFolder {

    /** Has the versions; no document can have this name. */
    static final String ORIGINS = ".millrace-memory.json";

    private static final String ETAG = "\"[\\x21\\x23-\\x7e]{1,200}\"";

    private final Path root;
    private final TreeMap<String, Origin> origins = new TreeMap<>();
    private final Map<String, Path> written = new TreeMap<>();

    /**
     * Where a file comes from.
     *
     * @param etag of the document's version that it was
     * @param hash of the content that it had
     */
    record Origin(String etag, String hash) {

        /** Whether the file still has this content. */
        boolean had(String content) {
            return Ids.hash(content).equals(hash);
        }
    }

    /** What the file of the versions says, by {@link #key}. */
    private record Origins(@Nullable SortedMap<String, Origin> documents) {}

    /** What lies in the folder. */
    sealed interface Entry {

        /** Where it lies, for people. */
        String name();

        /** A document. */
        record Document(String namespace, String path, String content) implements Entry {
            @Override
            public String name() {
                return key(namespace, path);
            }
        }

        /** Something that cannot be one. */
        record Refused(String name, String why) implements Entry {}
    }

    private MemoryFolder(Path root) {
        this.root = root;
    }

    /** A folder, which need not be there yet. */
    static MemoryFolder of(Path root) throws IOException {
        MemoryFolder folder = new MemoryFolder(root);
        Path file = root.resolve(ORIGINS);
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            try {
                SortedMap<String, Origin> documents = Json.MAPPER
                        .readValue(Files.readAllBytes(file), Origins.class)
                        .documents();
                if (documents != null) {
                    folder.origins.putAll(documents);
                    folder.origins
                            .values()
                            .removeIf(origin -> origin == null
                                    || !String.valueOf(origin.etag()).matches(ETAG));
                }
            } catch (JsonProcessingException e) {
                throw new CommandException(ExitCodes.FAILED, file + " is damaged: " + e.getOriginalMessage());
            }
        }
        return folder;
    }

    /** Where the file of the document with this {@link #key} comes from; empty if it was not made here. */
    Optional<Origin> origin(String key) {
        return Optional.ofNullable(origins.get(key));
    }

    /** The documents that files here come from. */
    List<String> known() {
        return List.copyOf(origins.keySet());
    }

    /** The file of a document has this content, and is this version. */
    void remember(String key, String content, String etag) {
        if (etag.matches(ETAG)) {
            origins.put(key, new Origin(etag, Ids.hash(content)));
        }
    }

    /** Keeps what is remembered. */
    void save() throws IOException {
        Files.createDirectories(root);
        put(root.resolve(ORIGINS), Json.writeText(new Origins(origins)) + "\n");
    }

    /** The content of a document's file; empty if there is none. */
    Optional<String> content(String namespace, String path) throws IOException {
        Path file = file(namespace, path);
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                ? Optional.of(Files.readString(file))
                : Optional.empty();
    }

    /**
     * Writes the file of a document.
     *
     * @throws CommandException if it would lie elsewhere, or where another document's file lies
     */
    void write(String namespace, String path, String content) throws IOException {
        Path file = file(namespace, path);
        Path below = root;
        Files.createDirectories(root);
        for (Path part : root.relativize(file.getParent())) {
            below = below.resolve(part);
            requireNoLink(below);
            if (!Files.isDirectory(below)) {
                Files.createDirectory(below);
            }
        }
        String folded = key(namespace, path).toLowerCase(Locale.ROOT);
        Path other = written.get(folded);
        if (other != null && Files.exists(file) && Files.isSameFile(other, file)) {
            throw new CommandException(
                    ExitCodes.FAILED,
                    key(namespace, path) + " would lie where " + root.relativize(other)
                            + " lies: this file system does not tell upper from lower case.");
        }
        put(file, content);
        written.put(folded, file);
    }

    private Path file(String namespace, String path) {
        if (!MemoryDocument.isPath(path)) {
            throw new CommandException(ExitCodes.FAILED, "Memory has no such place, and no file is made: " + path);
        }
        return root.resolve(folderOf(namespace)).resolve(path);
    }

    private static void put(Path file, String content) throws IOException {
        requireNoLink(file);
        Files.writeString(
                file,
                content,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS);
    }

    private static void requireNoLink(Path path) {
        if (Files.isSymbolicLink(path)) {
            throw new CommandException(ExitCodes.FAILED, path + " is a link; nothing is written through one.");
        }
    }

    /** Everything that lies here, by name; what begins with a dot is passed over. */
    List<Entry> entries() throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (DirectoryStream<Path> namespaces = Files.newDirectoryStream(root)) {
            for (Path folder : namespaces) {
                if (isHidden(folder)) {
                    continue;
                }
                String name = nameOf(folder);
                if (Files.isSymbolicLink(folder)) {
                    entries.add(new Entry.Refused(name, "it is a link"));
                } else if (!Files.isDirectory(folder)) {
                    entries.add(new Entry.Refused(name, "it lies in no namespace's folder"));
                } else {
                    addDocuments(folder, entries);
                }
            }
        }
        entries.sort(Comparator.comparing(Entry::name));
        return entries;
    }

    private void addDocuments(Path folder, List<Entry> entries) throws IOException {
        Optional<String> namespace = namespaceOf(nameOf(folder));
        if (namespace.isEmpty()) {
            entries.add(new Entry.Refused(nameOf(folder), "its name is no namespace's"));
            return;
        }
        // links are not followed, and come as files
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes attributes) {
                return isHidden(below) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (!isHidden(file)) {
                    entries.add(entry(namespace.get(), folder, file, attributes));
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private Entry entry(String namespace, Path folder, Path file, BasicFileAttributes attributes) throws IOException {
        String name = root.relativize(file).toString();
        String path = Normalizer.normalize(
                folder.relativize(file).toString().replace(file.getFileSystem().getSeparator(), "/"),
                Normalizer.Form.NFC);
        if (attributes.isSymbolicLink()) {
            return new Entry.Refused(name, "it is a link");
        }
        if (!attributes.isRegularFile()) {
            return new Entry.Refused(name, "it is no file");
        }
        if (!MemoryDocument.isPath(path)) {
            return new Entry.Refused(name, "expected facts/<name>.md or episodes/YYYY-MM.md below the namespace");
        }
        if (attributes.size() > MemoryDocument.maxBytes(path)) {
            return new Entry.Refused(
                    name, "expected at most " + MemoryDocument.maxBytes(path) + " bytes, found " + attributes.size());
        }
        try {
            return new Entry.Document(namespace, path, Files.readString(file));
        } catch (CharacterCodingException e) {
            return new Entry.Refused(name, "it is not UTF-8");
        }
    }

    private static boolean isHidden(Path path) {
        return nameOf(path).startsWith(".");
    }

    private static String nameOf(Path path) {
        return String.valueOf(path.getFileName());
    }

    static String key(String namespace, String path) {
        return namespace + '/' + path;
    }

    /** A namespace as the name of a folder: what could be anything but a name is written {@code %XX}. */
    static String folderOf(String namespace) {
        StringBuilder name = new StringBuilder();
        for (byte one : namespace.getBytes(StandardCharsets.UTF_8)) {
            char character = (char) (one & 0xFF);
            boolean plain = character < 0x80
                    && (Character.isLetterOrDigit(character)
                            || "_@=-".indexOf(character) >= 0
                            || (character == '.' && !name.isEmpty()));
            name.append(
                    plain
                            ? String.valueOf(character)
                            : "%" + HexFormat.of().withUpperCase().toHexDigits(one));
        }
        return name.toString();
    }

    private static Optional<String> namespaceOf(String folder) {
        try {
            String namespace = URLDecoder.decode(folder.replace("+", "%2B"), StandardCharsets.UTF_8);
            return folderOf(namespace).equals(folder) && namespace.indexOf('/') < 0
                    ? Optional.of(namespace)
                    : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
