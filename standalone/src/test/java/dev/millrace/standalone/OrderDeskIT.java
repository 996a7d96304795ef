package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The README of {@code examples/order-desk}, followed line by line: from the packaging of the tool API over a jar of tools
 * that Maven builds, with JDK 17 if there is one, to a task that a person decides on. Skipped where a program is missing that
 * it needs, and says so.
 */
class OrderDeskIT {

    private static final Path CLONE = Path.of("..").toAbsolutePath().normalize();
    private static final Path README = CLONE.resolve("examples/order-desk/README.md");
    private static final List<String> PROGRAMS = List.of("bash", "mvn", "node", "curl", "kcat");
    /** Whom everything is offered that there is. */
    private static final String EVERYTHING = """
            ---
            description: Has every tool.
            tools: "*"
            subAgents: "*"
            ---
            You have every tool.
            """;

    private final int port = FreePort.find();
    private final int kafkaPort = FreePort.find();

    @TempDir
    Path folder;

    @Test
    @DisplayName("the README of the order desk is true: jar, agent, worker, client, approval, curl and kcat")
    void shouldBeAsTheReadmeSays() throws Exception {
        List<String> missing = PROGRAMS.stream()
                .filter(program -> Packages.program(program).isEmpty())
                .toList();
        if (!missing.isEmpty()) {
            System.err.println("SKIPPED: OrderDeskIT needs " + String.join(", ", missing) + " on the PATH");
        }
        Assumptions.assumeTrue(missing.isEmpty(), "programs are missing");
        Optional<Path> packages = NpmPackages.install("OrderDeskIT", "kafkajs@2.2.4");
        Assumptions.assumeTrue(packages.isPresent(), "kafkajs cannot be had");
        prepare(packages.orElseThrow());

        try (Walkthrough walk = new Walkthrough(folder, environment())
                .within(Packages.PACKING)
                .with("localhost:8080", "127.0.0.1:" + port)
                .with("localhost:9092", "127.0.0.1:" + kafkaPort)) {
            List<Walkthrough.Block> blocks = Walkthrough.blocks(Files.readString(README));
            assertThat(blocks).hasSizeGreaterThan(10);
            for (Walkthrough.Block block : blocks) {
                try {
                    walk.follow(block);
                } catch (Walkthrough.DeviationError e) {
                    Packages.skipWithoutNetwork("OrderDeskIT", block, e);
                }
            }

            HttpApi api = HttpApi.onPort(port);
            shouldServeTheTools(api);
            shouldBeInTheTableOfTools(api);
        }
    }

    /** What the author of a tool said is what a client is told. */
    private static void shouldServeTheTools(HttpApi api) {
        JsonNode refund = tool(api, "refund_order");
        assertThat(refund.path("sideEffects").asText()).isEqualTo("IDEMPOTENT");
        assertThat(refund.at("/approval/when").asText()).isEqualTo("args.amount > 100");
        assertThat(refund.path("timeoutMs").asInt()).isEqualTo(20_000);
        assertThat(refund.at("/parameters/properties/amount/type").asText()).isEqualTo("number");
        assertThat(refund.at("/parameters/properties").has("context")).isFalse();
        assertThat(tool(api, "find_order").path("sideEffects").asText()).isEqualTo("READ_ONLY");
    }

    private static JsonNode tool(HttpApi api, String name) {
        for (JsonNode tool : api.get("/v1/tools").json().path("tools")) {
            if (tool.path("name").asText().equals(name)) {
                return tool;
            }
        }
        throw new AssertionError("Expected the tool " + name + " in GET /v1/tools");
    }

    /** docs/tools.md names what a model is offered, and nothing else. */
    private static void shouldBeInTheTableOfTools(HttpApi api) throws IOException {
        String taskId = api.post("/v1/tasks", Map.of("text", "Hello", "taskType", "everything"))
                .json()
                .path("taskId")
                .asText();
        String said =
                api.awaitEnd(taskId, Duration.ofSeconds(30)).path("response").asText();
        Set<String> offered = Stream.of(said.substring(said.indexOf("these tools: ") + "these tools: ".length())
                        .split(",\\s*", -1))
                .map(String::strip)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(offered).contains("find_order", "refund_order", "track_parcel");
        offered.removeAll(Set.of("find_order", "refund_order", "track_parcel"));

        String page = Files.readString(CLONE.resolve("docs/tools.md"));
        Matcher row = Pattern.compile("(?m)^\\| `([a-z0-9_]+)` \\|")
                .matcher(page.substring(page.indexOf("## Built-in tools"), page.indexOf("## Web search")));
        Set<String> documented =
                row.results().map(found -> found.group(1)).collect(Collectors.toCollection(TreeSet::new));
        assertThat(documented).isEqualTo(offered);
    }

    /** A clone as the README sees it, with a Millrace that is built. */
    private void prepare(Path packages) throws IOException {
        for (String example : List.of("java-tools", "order-desk")) {
            copy(
                    CLONE.resolve("examples").resolve(example),
                    folder.resolve("examples").resolve(example));
        }
        Files.createSymbolicLink(folder.resolve("examples/order-desk/node_modules"), packages.resolve("node_modules"));
        Path everything = Files.createDirectories(folder.resolve("examples/order-desk/agents/everything"));
        Files.writeString(everything.resolve("AGENT.md"), EVERYTHING);
        String java = ServiceProcess.standalone("").command().stream()
                .filter(argument -> !argument.isEmpty())
                .map(argument -> "'" + argument + "'")
                .collect(Collectors.joining(" "));
        script("millrace", """
                case "$1" in
                    package) JAVA_HOME='%s' exec '%s' "$@" --to target/repository ;;
                    up) exec %s "$@" --port %d --kafka-port %d ;;
                    *) exec %s "$@" ;;
                esac
                """.formatted(
                        System.getProperty("java.home"), CLONE.resolve("millrace"), java, port, kafkaPort, java));
        // what it would install is there
        script("bin/npm", "echo \"up to date\"\n");
    }

    private void script(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        Files.writeString(file, "#!/usr/bin/env bash\n" + text);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private Map<String, String> environment() throws IOException {
        Map<String, String> environment = new HashMap<>(Packages.maven("OrderDeskIT", folder, Packages.oldestJdk()));
        environment.put("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"));
        environment.put("MILLRACE_URL", "http://127.0.0.1:" + port);
        environment.put("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:" + kafkaPort);
        return environment;
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path relative = from.relativize(file);
                if (relative.startsWith("target") || relative.startsWith("node_modules")) {
                    continue;
                }
                Path copied = to.resolve(relative);
                if (Files.isDirectory(file)) {
                    Files.createDirectories(copied);
                } else {
                    Files.copy(file, copied);
                }
            }
        }
    }
}
