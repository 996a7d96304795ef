package dev.millrace.tools;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Definitions of tools that workers of others serve, from files: for workers that do not publish them themselves. */
public final class DefinitionFiles {

    private static final String KEY = "millrace.tools.definitions: ";

    private DefinitionFiles() {}

    /**
     * Reads files, and of a folder all that end with {@code .json}; each holds one definition or an array of them.
     *
     * @throws IllegalArgumentException if one is no good, naming the file
     */
    public static List<ToolDefinition> read(List<Path> places) {
        List<ToolDefinition> definitions = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Path file : places.stream().flatMap(DefinitionFiles::files).toList()) {
            for (ToolDefinition definition : definitions(file)) {
                if (definition.toolset().equals(Topics.BUILT_IN_TOOLSET)) {
                    throw new IllegalArgumentException(KEY + file + ": " + definition.name()
                            + " has the toolset \"tool\", whose tools this service knows itself");
                }
                if (!names.add(definition.name())) {
                    throw new IllegalArgumentException(
                            KEY + file + ": tool \"" + definition.name() + "\" is defined twice");
                }
                definitions.add(definition);
            }
        }
        return List.copyOf(definitions);
    }

    private static List<ToolDefinition> definitions(Path file) {
        try {
            JsonNode root = Json.MAPPER.readTree(Files.readAllBytes(file));
            List<ToolDefinition> definitions = new ArrayList<>();
            for (JsonNode each : root.isArray() ? root : List.of(root)) {
                definitions.add(ToolDefinition.fromJson(Json.MAPPER.writeValueAsBytes(each)));
            }
            return definitions;
        } catch (IOException | MalformedEventException e) {
            throw new IllegalArgumentException(KEY + file + ": " + e.getMessage(), e);
        }
    }

    private static Stream<Path> files(Path place) {
        if (!Files.isDirectory(place)) {
            return Stream.of(place);
        }
        try (Stream<Path> entries = Files.list(place)) {
            return entries.filter(entry -> entry.toString().endsWith(".json")).sorted().toList().stream();
        } catch (IOException e) {
            throw new IllegalArgumentException(KEY + place + ": " + e.getMessage(), e);
        }
    }
}
