package dev.millrace.standalone;

import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * What {@code ./millrace package} packs, and projects of others that use it. Their Maven has everything that the user's has,
 * but nothing of Millrace.
 */
final class Packages {

    /** How long packing may take; usual are a minute or two, once for all tests. */
    static final Duration PACKING = Duration.ofMinutes(8);

    private static final Path CLONE = ServiceProcess.repository();
    /** What Maven says when what it needs cannot be had, which is nobody's fault. */
    private static final Pattern NO_NETWORK =
            Pattern.compile("(?s).*(Could not transfer|Unknown host|offline mode|was not found in http).*");

    private Packages() {}

    /** Packs into {@code millrace/target/repository} of a folder, as if the clone was there; returns where that is. */
    static Path pack(String test, Path folder) throws IOException, InterruptedException {
        Path to = folder.resolve("millrace/target/repository");
        Files.createDirectories(to);
        Walkthrough.Block block =
                new Walkthrough.Block("'" + CLONE.resolve("millrace") + "' package --to '" + to + "'", null, null);
        try (Walkthrough walk = new Walkthrough(folder, Map.of("JAVA_HOME", System.getProperty("java.home")))) {
            walk.within(PACKING).follow(block);
        } catch (Walkthrough.DeviationError e) {
            skipWithoutNetwork(test, block, e);
        }
        return to;
    }

    /**
     * Does what a README of the clone says in a folder beside what was packed: writes its files, and then follows its
     * commands.
     *
     * @param url where it has Millrace
     * @return what its blocks have printed
     */
    static String follow(String test, String readme, Path project, Map<String, String> environment, String url)
            throws IOException, InterruptedException {
        Files.createDirectories(project);
        String page = Files.readString(CLONE.resolve(readme));
        StringBuilder printed = new StringBuilder();
        try (Walkthrough walk = new Walkthrough(project, environment).with("http://localhost:8080", url)) {
            walk.within(PACKING).write(page);
            for (Walkthrough.Block block : Walkthrough.blocks(page)) {
                try {
                    printed.append(walk.follow(block));
                } catch (Walkthrough.DeviationError e) {
                    skipWithoutNetwork(test, block, e);
                }
            }
        }
        return printed.toString();
    }

    /** The variables of somebody with this JDK, whose Maven has never had anything of Millrace; skips without a Maven. */
    static Map<String, String> maven(String test, Path folder, Path jdk) throws IOException {
        if (program("mvn").isEmpty()) {
            System.err.println("SKIPPED: " + test + " needs mvn on the PATH");
            Assumptions.abort("there is no mvn");
        }
        Path mine = Path.of(System.getProperty(
                "localRepository",
                Path.of(System.getProperty("user.home"), ".m2", "repository").toString()));
        Path theirs = folder.resolve("local-repository");
        link(mine, theirs, "dev");
        link(mine.resolve("dev"), theirs.resolve("dev"), "millrace");
        return Map.of("JAVA_HOME", jdk.toString(), "MAVEN_OPTS", "-Dmaven.repo.local=" + theirs);
    }

    private static void link(Path from, Path to, String without) throws IOException {
        Files.createDirectories(to);
        if (Files.isDirectory(from)) {
            try (Stream<Path> entries = Files.list(from)) {
                for (Path entry : entries.toList()) {
                    Path link = to.resolve(from.relativize(entry));
                    if (!link.endsWith(without) && Files.notExists(link)) {
                        Files.createSymbolicLink(link, entry);
                    }
                }
            }
        }
    }

    /** Skips the test if a block has failed since what Maven needs cannot be had; throws what it is given otherwise. */
    static void skipWithoutNetwork(String test, Walkthrough.Block block, Walkthrough.DeviationError e) {
        if (!block.commands().matches("(?s).*(mvn |millrace'? package).*")
                || !NO_NETWORK.matcher(e.printed()).matches()) {
            throw e;
        }
        System.err.println(
                "SKIPPED: " + test + " needs Maven's plugins, and what they need, which cannot be had from here");
        Assumptions.abort(e.printed());
    }

    /** A JDK as others may have it, 17 if there is one; else that of this test. */
    static Path oldestJdk() throws IOException {
        Path usual = Path.of("/usr/lib/jvm");
        if (Files.isDirectory(usual)) {
            try (Stream<Path> places = Files.list(usual)) {
                Optional<Path> found = places.filter(place -> Files.isExecutable(place.resolve("bin/javac")))
                        .filter(Packages::isJava17)
                        .findFirst();
                if (found.isPresent()) {
                    return found.get();
                }
            }
        }
        return Path.of(System.getProperty("java.home"));
    }

    private static boolean isJava17(Path jdk) {
        try {
            return Files.readString(jdk.resolve("release")).contains("JAVA_VERSION=\"17");
        } catch (IOException e) {
            return false;
        }
    }

    /** Where a program is that the PATH has. */
    static Optional<Path> program(String name) {
        return Stream.of(System.getenv("PATH").split(":", -1))
                .map(place -> Path.of(place, name))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
