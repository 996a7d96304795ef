package dev.millrace.tools.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Keeps the workspace apart from what belongs to the operator: configuration that is run, programs, and data. Whoever
 * may write files there could otherwise make agents and commands.
 */
public final class OperatorPlaces {

    /** Folders of agents have folders, and these have files. */
    private static final int LINK_DEPTH = 2;

    private OperatorPlaces() {}

    /**
     * Makes sure that the workspace neither is, nor holds, nor lies in one of these places, by whatever links they are
     * reached. None of them has to be there yet.
     *
     * @param places files and folders by what they are, in words that end a sentence
     * @throws IllegalArgumentException if it does; the message says what to do
     */
    public static void requireApart(Path workspace, Map<String, Path> places) {
        Path real = real(workspace);
        places.forEach((what, place) -> {
            Path there = real(place);
            if (there.equals(real)) {
                throw refused(real, "is " + what);
            }
            if (there.startsWith(real)) {
                throw refused(real, "holds " + what + " (" + there + ")");
            }
            if (real.startsWith(there)) {
                throw refused(real, "lies in " + what + " (" + there + ")");
            }
            links(there).stream()
                    .filter(link -> real(link).startsWith(real))
                    .findFirst()
                    .ifPresent(link -> {
                        throw refused(real, "holds a part of " + what + " (by way of " + link + ")");
                    });
        });
    }

    private static IllegalArgumentException refused(Path workspace, String why) {
        return new IllegalArgumentException("expected a folder apart from what an operator sets up, found " + workspace
                + ", which " + why + ": agents that may write files could change it. Choose a folder of its own for the"
                + " workspace");
    }

    /** The place free of links, as far as it is there. */
    private static Path real(Path place) {
        Path absolute = place.toAbsolutePath();
        try {
            if (Files.exists(absolute)) {
                return absolute.toRealPath();
            }
        } catch (IOException e) {
            // what cannot be looked at counts as what it is called
        }
        Path parent = absolute.normalize().getParent();
        return parent == null
                ? absolute.normalize()
                : real(parent).resolve(absolute.normalize().getFileName());
    }

    private static List<Path> links(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> found = Files.find(folder, LINK_DEPTH, (path, attributes) -> attributes.isSymbolicLink())) {
            return found.toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
    }
}
