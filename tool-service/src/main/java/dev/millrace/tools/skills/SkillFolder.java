package dev.millrace.tools.skills;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The skills of a folder, {@code <name>/SKILL.md} each. One that is no good is left out, and the log says why. */
public final class SkillFolder {

    /** More could not be listed in the description of a tool. */
    static final int MAX_SKILLS = 50;

    static final int MAX_BYTES = 100_000;

    private static final Logger LOGGER = LoggerFactory.getLogger(SkillFolder.class);

    private SkillFolder() {}

    /**
     * Reads them, in the order of their names.
     *
     * @param folder need not be there
     */
    public static List<Skill> read(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        List<Skill> skills = new ArrayList<>();
        for (Path place : places(folder)) {
            String name = String.valueOf(place.getFileName());
            try {
                if (skills.size() == MAX_SKILLS) {
                    throw new IllegalArgumentException("there are " + MAX_SKILLS + " skills already");
                }
                skills.add(skill(folder, place, name));
            } catch (IOException | IllegalArgumentException e) {
                LOGGER.atError().addKeyValue("skill", name).setCause(e).log("A skill is left out");
            }
        }
        return List.copyOf(skills);
    }

    private static List<Path> places(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> Files.isRegularFile(entry.resolve("SKILL.md")))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            LOGGER.atError().addKeyValue("folder", folder).setCause(e).log("No skills can be read");
            return List.of();
        }
    }

    private static Skill skill(Path folder, Path place, String name) throws IOException {
        if (!Skill.isName(name)) {
            throw new IllegalArgumentException(
                    "expected a name of 1 to 64 small letters, digits, _ or -, a letter or" + " digit first");
        }
        Path file = place.resolve("SKILL.md").toRealPath();
        if (!file.startsWith(folder.toRealPath())) {
            throw new IllegalArgumentException("expected a file of the folder, found a link that leads out of it");
        }
        if (Files.size(file) > MAX_BYTES) {
            throw new IllegalArgumentException("expected at most " + MAX_BYTES + " bytes, found " + Files.size(file));
        }
        return Skill.of(name, Files.readString(file));
    }
}
