package dev.millrace.tools.config;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.Config;

/**
 * Where the operator's things are, as far as this process can know: those of other services only where it runs them
 * too.
 */
final class ConfiguredPlaces {

    private ConfiguredPlaces() {}

    /** By what they are, for {@link dev.millrace.tools.files.OperatorPlaces}. */
    static Map<String, Path> of(ToolsConfig tools, Config all) {
        Map<String, Path> places = new LinkedHashMap<>();
        places.put("the configuration in the working folder", Path.of("config"));
        places.put("the variables of the working folder", Path.of(".env"));
        places.put("the file of MCP servers", tools.mcp().config().orElse(McpWiring.DEFAULT_FILE));
        places.put("the folder of skills", tools.skillsDir());
        put(places, "jars with tools", tools.java().jars().orElse(List.of()));
        put(places, "definitions of tools", tools.definitions().orElse(List.of()));
        tools.secrets()
                .forEach((name, secret) -> secret.file().ifPresent(file -> places.put("the secret " + name, file)));
        tools.webhook()
                .receivers()
                .forEach((name, receiver) -> receiver.secretsFile()
                        .ifPresent(file -> places.put("the secrets of the receiver " + name, file)));
        tools.openapi().forEach((name, api) -> {
            if (!api.document().contains("://")) {
                places.put("the document of the API " + name, Path.of(api.document()));
            }
        });
        key(places, all, "the folder of agents", "millrace.agent.agents-dir");
        key(places, all, "the folder of rules", "millrace.agent.rules.dir");
        key(places, all, "the folder of schedules", "millrace.agent.schedules.dir");
        key(places, all, "the state of agent-service", "millrace.agent.state-dir");
        key(places, all, "the state of reflection-service", "millrace.reflection.state-dir");
        key(places, all, "the data folder", "millrace.standalone.data");
        key(places, all, "the script of the model", "millrace.llm.scripted.script");
        Path program = program();
        if (program != null) {
            places.put("Millrace itself", program);
        }
        return places;
    }

    private static void put(Map<String, Path> places, String what, List<Path> paths) {
        for (int i = 0; i < paths.size(); i++) {
            places.put(i == 0 ? what : what + ", number " + (i + 1), paths.get(i));
        }
    }

    private static void key(Map<String, Path> places, Config all, String what, String key) {
        all.getOptionalValue(key, String.class).ifPresent(path -> places.put(what, Path.of(path)));
    }

    /** Where this class was loaded from; {@code null} if that is no file. */
    private static @org.jspecify.annotations.Nullable Path program() {
        CodeSource source = ConfiguredPlaces.class.getProtectionDomain().getCodeSource();
        try {
            return source == null || source.getLocation() == null
                    ? null
                    : Path.of(source.getLocation().toURI());
        } catch (URISyntaxException | IllegalArgumentException | java.nio.file.FileSystemNotFoundException e) {
            return null;
        }
    }
}
