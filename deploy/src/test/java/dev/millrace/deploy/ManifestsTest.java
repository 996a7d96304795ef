package dev.millrace.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Both overlays as they are rendered. What {@code kubectl kustomize} makes of them is kept in
 * {@code src/test/resources/rendered}, so that all else can be checked where there is no kubectl.
 */
@Tag("slow")
class ManifestsTest {

    private static final Path OPERATIONS = Path.of("..", "docs", "operations.md");
    private static final Path KNOWLEDGE = Path.of("..", "docs", "knowledge.md");
    private static final Path LAUNCHER = Path.of("..", "millrace");
    private static final Path RUNBOOKS = Path.of("runbooks");
    private static final Pattern KEY = Pattern.compile("(?m)^\\| `(millrace\\.[a-z.-]+)`");
    /** In docs/knowledge.md they stand without what they begin with. */
    private static final Pattern KEY_OF_KNOWLEDGE = Pattern.compile("(?m)^\\| `([a-z.-]+)`");

    private static final Pattern BUILT = Pattern.compile("modules=\\(([^)]*)\\)");
    private static final Pattern EXAMPLE = Pattern.compile("(?s)(?:```yaml|<<'YAML')\\n(.*?)\\n(?:```|YAML\\n)");
    private static final Pattern USER = Pattern.compile("<user>(.*)</user>");

    @ParameterizedTest
    @ValueSource(strings = {"trial", "production"})
    @DisplayName("what is kept is what kubectl kustomize renders")
    void shouldKeepWhatIsRendered(String overlay) throws IOException, InterruptedException {
        // given
        String rendered = kustomize("overlays/" + overlay);
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(Manifests.file(overlay), rendered);
        }

        // then
        assertThat(Manifests.rendered(overlay).byId())
                .as("%s is stale; write it anew with -Dmillrace.docs.write=true", Manifests.file(overlay))
                .isEqualTo(Manifests.parse(rendered).byId());
    }

    @ParameterizedTest
    @ValueSource(strings = {"trial", "production"})
    @DisplayName("an API server would take every document, and drop no field of it")
    void shouldDecodeEveryDocument(String overlay) {
        assertThat(Manifests.rendered(overlay).documents().stream()
                        .map(Models::problem)
                        .flatMap(Optional::stream))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"trial", "production"})
    @DisplayName("documents fit each other, images and keys, and ask for no more rights than they need")
    void shouldFitTogether(String overlay) throws IOException {
        assertThat(Rules.problems(Manifests.rendered(overlay), user(), keys())).isEmpty();
    }

    @Test
    @DisplayName("each overlay in README.md renders to manifests that are good")
    void shouldRenderTheExamples() throws IOException, InterruptedException {
        // given
        List<String> examples = EXAMPLE.matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(example -> example.group(1))
                .toList();
        Path folder = Files.createDirectories(Path.of("target", "example", "agents", "careful"))
                .resolve(Path.of("..", ".."))
                .normalize();
        Files.writeString(folder.resolve(Path.of("agents", "careful", "AGENT.md")), "an agent");

        // then
        assertThat(examples).hasSize(7);
        for (String example : examples) {
            String whole =
                    (example.contains("resources:") ? "" : "resources: [../deploy/overlays/production]\n") + example;
            Files.writeString(
                    folder.resolve("kustomization.yaml"),
                    (whole.contains("namespace:") ? "" : "namespace: millrace\n")
                            + whole.replace("../deploy/", "../../"));
            Manifests rendered = Manifests.parse(kustomize(folder.toString()));
            assertThat(rendered.documents().stream().map(Models::problem).flatMap(Optional::stream))
                    .as(example)
                    .isEmpty();
            assertThat(Rules.problems(rendered, user(), keys())).as(example).isEmpty();
        }
    }

    @Test
    @DisplayName("README.md makes each Secret that production cannot do without")
    void shouldTellHowToMakeSecrets() throws IOException {
        String readme = Files.readString(Path.of("README.md"));

        assertThat(Rules.SECRETS_OF_USERS)
                .allSatisfy(secret -> assertThat(readme).contains("create secret generic " + secret + ' '));
    }

    @Test
    @DisplayName(
            "production asks who calls, with the key file that is mounted, and its services show each other a secret")
    void shouldHaveCallersLogIn() throws IOException {
        Manifests production = Manifests.rendered("production");
        ObjectNode gateway = production
                .workloads()
                .filter(workload -> Manifests.name(workload).equals("gateway"))
                .findFirst()
                .orElseThrow();
        JsonNode keys = production
                .of("ConfigMap")
                .filter(map -> map.at("/metadata/name").asText().startsWith("gateway-"))
                .findFirst()
                .orElseThrow();

        assertThat(keys.at("/data/MILLRACE_GATEWAY_AUTH").asText()).isEqualTo("key");
        assertThat(keys.at("/data/MILLRACE_GATEWAY_AUTH_KEYS_FILE").asText())
                .startsWith(Manifests.container(gateway)
                                .at("/volumeMounts/0/mountPath")
                                .asText()
                        + '/');
        assertThat(production.workloads())
                .allSatisfy(workload -> assertThat(Manifests.container(workload).path("envFrom"))
                        .anyMatch(
                                source -> source.at("/secretRef/name").asText().equals("internal")));
    }

    @Test
    @DisplayName("each alert has a runbook, and each runbook an alert")
    void shouldHaveARunbookForEachAlert() throws IOException {
        // given
        List<JsonNode> alerts = Manifests.rendered("production")
                .of("PrometheusRule")
                .flatMap(rule -> rule.at("/spec/groups/0/rules").valueStream())
                .toList();

        // then
        assertThat(alerts)
                .isNotEmpty()
                .allSatisfy(alert -> assertThat(alert.at("/annotations/runbook").asText())
                        .isEqualTo("deploy/runbooks/" + alert.path("alert").asText() + ".md"));
        try (Stream<Path> pages = Files.list(RUNBOOKS)) {
            assertThat(pages.map(page -> page.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(alerts.stream()
                            .map(alert -> alert.path("alert").asText() + ".md")
                            .toList());
        }
    }

    @Test
    @DisplayName("an image that is named is one that is built, in this version")
    void shouldNameTheImagesThatAreBuilt() throws IOException {
        String version = find(Pattern.compile("<version>(.*)</version>"), Files.readString(Path.of("pom.xml")));
        Set<String> built = new TreeSet<>();
        for (String module : find(BUILT, Files.readString(LAUNCHER)).split(" ", -1)) {
            String name = module.split(":", -1)[0];
            assertThat(Path.of("..", name)).isDirectory();
            built.add(name.replaceFirst("-service$", ""));
        }
        List<ObjectNode> workloads =
                Manifests.rendered("production").workloads().toList();
        assertThat(workloads).extracting(Manifests::name).containsExactlyInAnyOrderElementsOf(built);
        for (ObjectNode workload : workloads) {
            assertThat(Manifests.container(workload).path("image").asText())
                    .isEqualTo("millrace/" + Manifests.name(workload) + ':' + version);
        }
    }

    /** What the images run as. */
    static String user() throws IOException {
        return find(USER, Files.readString(Path.of("pom.xml")));
    }

    /** The keys that docs/operations.md lists, which a test there holds to the code, and those of docs/knowledge.md. */
    static Set<String> keys() throws IOException {
        String knowledge = Files.readString(KNOWLEDGE);
        return Stream.concat(
                        KEY.matcher(Files.readString(OPERATIONS)).results().map(key -> key.group(1)),
                        KEY_OF_KNOWLEDGE
                                .matcher(knowledge.substring(knowledge.indexOf("\n## Keys\n")))
                                .results()
                                .map(key -> "millrace.knowledge." + key.group(1)))
                .map(key -> key.replaceAll("[^a-z0-9]", "_").toUpperCase(Locale.ROOT))
                .collect(Collectors.toSet());
    }

    private static String find(Pattern pattern, String text) {
        Matcher found = pattern.matcher(text);
        assertThat(found.find()).as(pattern.pattern()).isTrue();
        return found.group(1);
    }

    private static String kustomize(String folder) throws IOException, InterruptedException {
        Path errors = Files.createTempFile("kubectl", ".log");
        try {
            Process kubectl = new ProcessBuilder("kubectl", "kustomize", folder)
                    .redirectError(errors.toFile())
                    .start();
            String rendered = new String(kubectl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(kubectl.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(kubectl.exitValue())
                    .as("components need kubectl 1.21 or newer; it said: %s", Files.readString(errors))
                    .isZero();
            return rendered;
        } catch (IOException e) {
            System.err.println(
                    "SKIPPED: whether " + folder + " renders to what is kept needs kubectl 1.21 on the PATH");
            return abort("no kubectl: " + e.getMessage());
        } finally {
            Files.delete(errors);
        }
    }
}
