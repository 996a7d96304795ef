package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** What {@code ./millrace package} packs is whole, and enough for a project that knows nothing else of Millrace. */
class PackagesIT {

    private static final Path CLONE = ServiceProcess.repository();
    /** What others compile against. */
    private static final List<String> PUBLIC =
            List.of("millrace-api", "millrace-client", "millrace-testkit", "millrace-tool-api");

    private static final Pattern DEPENDENCY = Pattern.compile("<dependency>(.*?)</dependency>", Pattern.DOTALL);

    @TempDir
    static Path folder;

    private static Path packed;
    private static String version;

    @BeforeAll
    static void pack() throws Exception {
        packed = Packages.pack("PackagesIT", folder);
        try (Stream<Path> versions = Files.list(packed.resolve("dev/millrace/millrace-client"))) {
            version = String.valueOf(versions.findFirst().orElseThrow().getFileName());
        }
    }

    @Test
    @DisplayName("what others compile against has sources and Javadoc, and every file has its checksum in SHA256SUMS")
    void shouldBeWhole() throws Exception {
        // given
        boolean hasNpm = NpmPackages.runs("npm", "--version");

        // when
        Map<String, String> sums = sums();

        // then
        assertThat(version).doesNotContain("SNAPSHOT");
        for (String artifact : PUBLIC) {
            String file = "dev/millrace/" + artifact + '/' + version + '/' + artifact + '-' + version;
            assertThat(sums).containsKeys(file + ".jar", file + "-sources.jar", file + "-javadoc.jar", file + ".pom");
        }
        assertThat(sums.containsKey("millrace-client-" + version + ".tgz")).isEqualTo(hasNpm);
        assertThat(sums).containsKey("millrace-" + version + ".cdx.json");
        Set<String> files = new TreeSet<>();
        try (Stream<Path> all = Files.walk(packed)) {
            all.filter(Files::isRegularFile)
                    .map(file -> packed.relativize(file).toString())
                    .filter(file -> !file.endsWith(".sha1") && !file.endsWith(".md5") && !file.equals("SHA256SUMS"))
                    .forEach(files::add);
        }
        assertThat(sums.keySet()).isEqualTo(files);
        for (Map.Entry<String, String> sum : sums.entrySet()) {
            byte[] bytes = Files.readAllBytes(packed.resolve(sum.getKey()));
            assertThat(HexFormat.of()
                            .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)))
                    .as(sum.getKey())
                    .isEqualTo(sum.getValue());
        }
    }

    @Test
    @DisplayName("poms need no parent, name a version of everything, and nothing of Millrace that is not packed")
    void shouldHavePomsOfTheirOwn() throws IOException {
        List<String> poms =
                sums().keySet().stream().filter(file -> file.endsWith(".pom")).toList();
        Set<String> there = poms.stream().map(pom -> pom.split("/", -1)[2]).collect(Collectors.toSet());
        assertThat(there).containsAll(PUBLIC).doesNotContain("millrace-testing", "millrace-broker");
        for (String file : poms) {
            String pom = Files.readString(packed.resolve(file));
            assertThat(pom).as(file).contains("Apache-2.0").doesNotContain("<parent>", "SNAPSHOT", "${");
            for (MatchResult dependency : DEPENDENCY.matcher(pom).results().toList()) {
                String text = dependency.group(1);
                assertThat(text).as(file).contains("<version>").doesNotContain("<scope>test");
                if (text.contains("<groupId>dev.millrace<")) {
                    assertThat(there)
                            .as(file)
                            .contains(text.replaceAll("(?s).*?<artifactId>(.*?)</artifactId>.*", "$1"));
                }
            }
        }
    }

    @Test
    @DisplayName("the bill of materials has what is packed and what that needs, and nothing of tests")
    void shouldHaveABillOfMaterials() throws IOException {
        JsonNode bill = new ObjectMapper()
                .readTree(packed.resolve("millrace-" + version + ".cdx.json").toFile());
        assertThat(bill.path("bomFormat").asText()).isEqualTo("CycloneDX");
        Set<String> components = new TreeSet<>();
        bill.path("components")
                .forEach(component -> components.add(component.path("group").asText()
                        + ':'
                        + component.path("name").asText()));
        assertThat(components)
                .containsAll(PUBLIC.stream().map(name -> "dev.millrace:" + name).toList())
                .contains("com.fasterxml.jackson.core:jackson-databind", "org.apache.kafka:kafka-streams")
                .doesNotContain("dev.millrace:millrace-testing", "com.tngtech.archunit:archunit");
    }

    @Test
    @DisplayName("the README of the test kit is true, for a Maven project of somebody else")
    void shouldTestAProjectOfOthers() throws Exception {
        // given
        Path project = folder.resolve("refunds");
        Map<String, String> environment =
                Packages.maven("PackagesIT", folder, Path.of(System.getProperty("java.home")));

        // when
        Packages.follow("PackagesIT", "testkit/README.md", project, environment, "http://localhost:8080");

        // then
        assertThat(Files.readString(project.resolve("target/surefire-reports/TEST-RefundsTest.xml")))
                .contains("tests=\"2\"", "errors=\"0\"", "skipped=\"0\"", "failures=\"0\"");
    }

    @Test
    void shouldSayWhatItExpects() {
        assertThatThrownBy(() -> call("package --version 1.0")).hasMessageContaining("expected three numbers");
        assertThatThrownBy(() -> call("package --version=1.0.0-SNAPSHOT"))
                .hasMessageContaining("no snapshot, found 1.0.0-SNAPSHOT");
        assertThatThrownBy(() -> call("package --to")).hasMessageContaining("--to: expected a value, found nothing");
        assertThatThrownBy(() -> call("package --into x"))
                .hasMessageContaining("exit code 2")
                .hasMessageContaining("expected --to FOLDER or --version V, found --into");
    }

    private static void call(String command) throws Exception {
        try (Walkthrough walk = new Walkthrough(folder, Map.of())) {
            walk.follow(new Walkthrough.Block("'" + CLONE.resolve("millrace") + "' " + command, null, null));
        }
    }

    @Test
    @DisplayName("packed twice from the start, each file has the same bytes")
    @EnabledIfSystemProperty(named = "millrace.packages.twice", matches = "true")
    void shouldMakeTheSameBytesAgain() throws Exception {
        // given
        Map<String, String> before = sums();

        // when: what was packed is as if it was of other sources
        Files.delete(CLONE.resolve("target/packages/key"));
        pack();

        // then
        assertThat(sums()).isEqualTo(before);
    }

    private static Map<String, String> sums() throws IOException {
        Map<String, String> sums = new TreeMap<>();
        for (String line : Files.readAllLines(packed.resolve("SHA256SUMS"))) {
            String[] parts = line.split(" +", 2);
            sums.put(parts[1], parts[0]);
        }
        return sums;
    }
}
