package dev.millrace.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsoleFilesTest {

    private static final Path FOLDER = Path.of("src/main/resources/console");
    private static final Pattern MAP = Pattern.compile("<script type=\"importmap\">(.*?)</script>", Pattern.DOTALL);
    private static final Pattern IMPORT = Pattern.compile("(?:from|import)\\s*\\(?\\s*'([^']+)'");

    private final ConsoleFiles files = new ConsoleFiles(ConsoleFiles.class.getClassLoader());

    @Test
    void shouldAllowTheImportMapOfThePageAndNoOtherInlineScript() throws Exception {
        // given
        String page = files.page().body().toString();
        Matcher map = MAP.matcher(page);

        // then
        assertThat(map.find()).isTrue();
        String hash = Base64.getEncoder()
                .encodeToString(
                        MessageDigest.getInstance("SHA-256").digest(map.group(1).getBytes(StandardCharsets.UTF_8)));
        assertThat(files.page().policy())
                .contains("script-src 'self' 'sha256-" + hash + "';", "default-src 'none'", "trusted-types lit-html")
                .doesNotContain("unsafe");
        assertThat(page).doesNotContain("<script>", "<style", " style=", " onclick=");
    }

    @Test
    void shouldMapEveryModuleThatIsNamedToAFileThatIsThere() throws IOException {
        // given
        Matcher map = MAP.matcher(files.page().body().toString());
        assertThat(map.find()).isTrue();
        JsonNode imports = Json.MAPPER.readTree(map.group(1)).path("imports");
        List<String> missing = new ArrayList<>();

        // when
        try (Stream<Path> modules = Files.walk(FOLDER)) {
            for (Path module :
                    modules.filter(file -> file.toString().endsWith(".js")).toList()) {
                Matcher named = IMPORT.matcher(Files.readString(module));
                while (named.find()) {
                    String name = named.group(1);
                    boolean there = name.startsWith(".")
                            ? Files.exists(module.resolveSibling(name).normalize())
                            : isMapped(imports, name);
                    if (!there) {
                        missing.add(module + " imports " + name);
                    }
                }
            }
        }

        // then
        assertThat(missing).isEmpty();
    }

    private static boolean isMapped(JsonNode imports, String name) {
        int slash = name.indexOf('/');
        String target = imports.has(name)
                ? imports.path(name).asText()
                : slash < 0 ? "" : imports.path(name.substring(0, slash + 1)).asText() + name.substring(slash + 1);
        return ConsoleFilesTest.class.getResource("/META-INF/resources" + target) != null && !target.isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../console/app.js",
                "/app.js",
                "screens/../app.js",
                "app.js/",
                "index.html",
                "screens",
                "nothing.js",
                "app.java",
                "..%2fapp.js",
                ""
            })
    void shouldServeWhatIsInTheFolderAndNothingElse(String name) {
        assertThat(files.file(name)).isEmpty();
    }

    @Test
    @DisplayName("with the libraries that it brings the console is smaller than 2 MB")
    void shouldStaySmall() throws IOException {
        // given: of this module and of what it takes from mvnpm; jars compress the files of this module further
        long bytes = 0;
        try (Stream<Path> own = Files.walk(FOLDER)) {
            for (Path file : own.filter(Files::isRegularFile).toList()) {
                bytes += Files.size(file);
            }
        }
        List<Path> libraries = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(entry -> entry.contains("mvnpm") && entry.endsWith(".jar"))
                .map(Path::of)
                .toList();
        for (Path jar : libraries) {
            bytes += Files.size(jar);
        }

        // then
        assertThat(libraries).hasSizeGreaterThanOrEqualTo(4);
        assertThat(bytes).isLessThan(2_000_000);
    }

    @Test
    void shouldServeEveryFileWithItsTypeAndAnotherTagForOtherBytes() {
        // when
        ServedFile script = files.file("screens/task.js").orElseThrow();
        ServedFile style = files.file("app.css").orElseThrow();

        // then
        assertThat(script.type()).isEqualTo("text/javascript; charset=utf-8");
        assertThat(style.type()).isEqualTo("text/css; charset=utf-8");
        assertThat(script.etag()).isNotEqualTo(style.etag());
        assertThat(style.policy()).contains("default-src 'none'");
    }
}
