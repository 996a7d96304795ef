package dev.millrace.bench;

import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Where the engines are that {@link PeersWorkload} has fetched by the names of their packages: with Maven and npm, from
 * whatever registries those are set up with. What runs on them lies in {@code bench/peers} and is no module of the
 * build, since nobody else needs their libraries.
 *
 * @param folder {@code bench/peers}
 */
record PeerSources(Path folder) {

    private static final String RESTATE_VERSION = "1.7.12";

    /**
     * Fetches and compiles what is needed for these, unless that is done.
     *
     * @throws IllegalStateException if it cannot be had here; says where the output is
     */
    static PeerSources prepare(List<Contender> contenders) throws IOException, InterruptedException {
        Path root = ServiceProcess.repository();
        Path folder = root.resolve(Path.of("bench", "peers"));
        for (Contender contender : List.of(Contender.RESTATE, Contender.LITTLEHORSE)) {
            if (contenders.contains(contender)) {
                compile(root, folder, contender.label());
            }
        }
        PeerSources sources = new PeerSources(folder);
        if (contenders.contains(Contender.RESTATE)) {
            sources.restateServer(); // now, and not when the others have been measured
        }
        return sources;
    }

    /**
     * The program, which is fetched if it is not there.
     *
     * @throws IllegalStateException if it cannot be had here
     */
    Path restateServer() {
        String name = "@restatedev/restate-server-" + platform();
        return NpmPackages.install("bench peers", name + "@" + RESTATE_VERSION)
                .orElseThrow(() -> new IllegalStateException("expected to get " + name + " from npm"))
                .resolve(Path.of("node_modules", name, "bin", "restate-server"));
    }

    private static void compile(Path root, Path folder, String name) throws IOException, InterruptedException {
        Path log = Files.createDirectories(folder.resolve("target")).resolve(name + ".log");
        Process maven = new ProcessBuilder(
                        root.resolve("mvnw").toString(),
                        "-B",
                        "-f",
                        folder.resolve("pom.xml").toString(),
                        "-pl",
                        name,
                        "compile")
                .directory(root.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (maven.waitFor() != 0) {
            throw new IllegalStateException("expected " + name + " to compile; see " + log);
        }
    }

    /** As npm's packages with programs in them are named. */
    private static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : "linux";
        return system + (System.getProperty("os.arch").equals("aarch64") ? "-arm64" : "-x64");
    }

    /** The command line of a program of a peer. */
    List<String> java(Contender peer, String maxHeap, String main, String... args) throws IOException {
        Path target = folder.resolve(Path.of(peer.label(), "target"));
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "-Xmx" + maxHeap,
                "-XX:+UseG1GC",
                "-Dlog4j.shutdownHookEnabled=false",
                "-cp",
                target.resolve("classes") + File.pathSeparator + Files.readString(target.resolve("class-path")),
                main));
        command.addAll(List.of(args));
        return command;
    }
}
