package dev.millrace.deploy;

import static dev.millrace.deploy.Manifests.container;
import static dev.millrace.deploy.Manifests.name;
import static dev.millrace.deploy.Manifests.pod;
import static dev.millrace.deploy.Manifests.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The images in podman, as the manifests of the trial have them run: user, read-only root, capabilities, memory, volumes,
 * keys, topics, probes, and what each may do at the brokers. The addresses are the test's own, and so is the network: that of this
 * machine.
 */
class ImagesIT {

    private static final Path IMAGES = Path.of("target", "images");
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int KILLED = 137;
    /** The network of this machine, and limits that need not be raised; Podman's own would have to be. */
    private static final List<String> RUN =
            List.of("--network", "host", "--ulimit", "nofile=16384:16384", "--ulimit", "nproc=8192:8192");
    /** Podman as it is, and with the runtime that does where control groups are of both versions. */
    private static final List<List<String>> PODMANS =
            List.of(List.of("podman"), List.of("podman", "--runtime", "runc"));

    private final Manifests all = Manifests.rendered("trial");
    private final Map<ObjectNode, String> running = new LinkedHashMap<>();
    private final Map<String, Integer> ports = new TreeMap<>();

    private List<String> podman = PODMANS.getFirst();

    @TempDir
    Path folder;

    @BeforeEach
    void requireImages() {
        List<ObjectNode> workloads = all.workloads().toList();
        if (!workloads.stream().allMatch(workload -> Files.exists(tar(workload)))) {
            skip("needs the images (./millrace images --base debian)");
        }
        String why = "";
        for (List<String> candidate : PODMANS) {
            podman = candidate;
            try {
                for (ObjectNode workload : workloads) {
                    podman("load", "-q", "-i", tar(workload).toString());
                }
                podman(run(
                        "--rm", "--memory", "256m", "--entrypoint", "java", image(workloads.getFirst()), "-version"));
                return;
            } catch (IOException | IllegalStateException e) {
                why = e.getMessage();
            }
        }
        skip("needs a podman that runs containers (Debian: apt-get install podman runc): " + why);
    }

    private static Path tar(ObjectNode workload) {
        return IMAGES.resolve(name(workload) + ".tar");
    }

    private static String[] run(String... more) {
        return Stream.concat(Stream.concat(Stream.of("run"), RUN.stream()), Stream.of(more))
                .toArray(String[]::new);
    }

    @AfterEach
    void removeContainers() throws IOException {
        for (Map.Entry<ObjectNode, String> each : running.entrySet()) {
            // for whoever looks why it failed
            Files.writeString(IMAGES.resolve(name(each.getKey()) + ".log"), podman("logs", each.getValue()));
            podman("rm", "-f", "-v", each.getValue());
        }
    }

    @Test
    @DisplayName(
            "four images with the rights of the manifests do a task, see an agent of a ConfigMap, and stop in time")
    void shouldDoATask() throws Exception {
        // given
        try (SecuredBroker broker = SecuredBroker.start(folder)) {
            broker.apply(all);
            for (ObjectNode workload : all.workloads().toList()) {
                running.put(workload, podman(command(workload, broker)));
            }
            for (ObjectNode workload : running.keySet()) {
                awaitProbes(workload);
            }
            HttpApi api = HttpApi.onPort(port("gateway"));

            // when
            JsonNode task = api.awaitEnd(api.submit("Which files are in the workspace?"), LIMIT);

            // then
            assertThat(task.path("state").asText()).isEqualTo("completed");
            assertThat(api.events(task.path("taskId").asText()))
                    .extracting(event -> event.path("type").asText())
                    .contains("TOOL_CALL_COMPLETED", "TASK_COMPLETED");
            await().atMost(LIMIT).until(() -> api.status("/v1/agents/careful") == 200);
            assertThat(Decisions.refused()).isEmpty();
            for (Map.Entry<ObjectNode, String> each : running.entrySet()) {
                podman(
                        "stop",
                        "-t",
                        pod(each.getKey()).path("terminationGracePeriodSeconds").asText(),
                        each.getValue());
                assertThat(podman("inspect", "--format", "{{.State.ExitCode}}", each.getValue()))
                        .as(name(each.getKey()))
                        .isNotEqualTo(Integer.toString(KILLED));
                assertThat(podman("logs", each.getValue()))
                        .as(name(each.getKey()))
                        .doesNotContain("Read-only file system", "Permission denied", "Operation not permitted");
            }
        }
    }

    private String[] command(ObjectNode workload, SecuredBroker broker) throws IOException {
        JsonNode security = pod(workload).path("securityContext");
        JsonNode own = container(workload).path("securityContext");
        List<String> command = new ArrayList<>(List.of("-d", "--add-host", "agent:127.0.0.1"));
        command.addAll(List.of(
                "--user",
                security.path("runAsUser").asText()
                        + ':'
                        + security.path("runAsGroup").asText()));
        if (own.path("readOnlyRootFilesystem").asBoolean()) {
            command.addAll(List.of("--read-only", "--read-only-tmpfs=false"));
        }
        if (!own.path("allowPrivilegeEscalation").asBoolean(true)) {
            command.addAll(List.of("--security-opt", "no-new-privileges"));
        }
        own.at("/capabilities/drop").forEach(dropped -> command.addAll(List.of("--cap-drop", dropped.asText())));
        command.addAll(List.of(
                "--memory",
                container(workload).at("/resources/limits/memory").asText().replace("Mi", "m")));
        for (JsonNode mount : container(workload).path("volumeMounts")) {
            command.addAll(mounted(workload, mount, broker));
        }
        Map<String, String> environment = new TreeMap<>(all.environment(workload));
        environment.replaceAll((key, value) -> value.replace("http://agent:8081", "http://agent:" + port("agent")));
        environment.put("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrapServers());
        environment.put("KAFKA_SASL_JAAS_CONFIG", broker.login(all.user(workload)));
        environment.put("QUARKUS_HTTP_HOST", "127.0.0.1");
        environment.put("QUARKUS_HTTP_PORT", Integer.toString(port(name(workload))));
        environment.put("QUARKUS_MANAGEMENT_PORT", Integer.toString(port(name(workload) + " management")));
        environment.forEach((key, value) -> command.addAll(List.of("-e", key + '=' + value)));
        command.add(image(workload));
        return run(command.toArray(String[]::new));
    }

    private List<String> mounted(ObjectNode workload, JsonNode mount, SecuredBroker broker) throws IOException {
        String place = mount.path("mountPath").asText();
        JsonNode volume = stream(pod(workload).path("volumes"))
                .filter(candidate -> candidate.path("name").equals(mount.path("name")))
                .findFirst()
                .orElse(workload.path("spec").path("volumeClaimTemplates").path(0));
        if (volume.has("emptyDir")) {
            return List.of(
                    "--tmpfs",
                    place + ":rw,exec,mode=1777,size="
                            + volume.at("/emptyDir/sizeLimit").asText().replace("Mi", "m"));
        }
        if (volume.has("secret")) {
            return List.of("-v", broker.certificate() + ":" + place + "/ca.crt:ro");
        }
        if (volume.has("configMap")) {
            return List.of("-v", agents() + ":" + place + ":ro");
        }
        return List.of("--mount", "type=volume,destination=" + place + ",U=true");
    }

    /** A ConfigMap as kubelet mounts it: behind links, so that all of it changes at once. */
    private Path agents() throws IOException {
        Path mounted = Files.createDirectories(folder.resolve("agents"));
        Path version = Files.createDirectories(mounted.resolve("..2026_01_01").resolve("careful"));
        Files.writeString(version.resolve("AGENT.md"), """
                ---
                description: Takes its time.
                tools: []
                ---
                You take your time.
                """);
        Files.createSymbolicLink(mounted.resolve("..data"), Path.of("..2026_01_01"));
        Files.createSymbolicLink(mounted.resolve("careful"), Path.of("..data", "careful"));
        return mounted.toAbsolutePath();
    }

    /** Startup, readiness and liveness, each within the time that its probe has. */
    private void awaitProbes(ObjectNode workload) {
        for (String probe : List.of("startupProbe", "readinessProbe", "livenessProbe")) {
            JsonNode asked = container(workload).path(probe);
            URI url = URI.create("http://127.0.0.1:"
                    + port(name(workload) + ' ' + asked.at("/httpGet/port").asText())
                    + asked.at("/httpGet/path").asText());
            Duration budget = probe.equals("startupProbe")
                    ? Duration.ofSeconds(asked.path("periodSeconds").asInt()
                            * asked.path("failureThreshold").asLong())
                    : LIMIT;
            await(probe + " of " + name(workload)).atMost(budget).until(() -> new HttpApi(url).status("") == 200);
        }
    }

    private int port(String service) {
        return ports.computeIfAbsent(service, any -> FreePort.find());
    }

    private static String image(ObjectNode workload) {
        return "localhost/" + container(workload).path("image").asText();
    }

    private static void skip(String why) {
        System.err.println("SKIPPED: ImagesIT " + why);
        abort(why);
    }

    /** What podman prints; fails where it does. */
    private String podman(String... args) throws IOException {
        List<String> command = new ArrayList<>(podman);
        command.addAll(List.of(args));
        Path errors = folder.resolve("podman.log");
        Process process =
                new ProcessBuilder(command).redirectError(errors.toFile()).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        try {
            if (process.waitFor() != 0) {
                throw new IllegalStateException("podman " + args[0] + ": " + Files.readString(errors));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        return printed;
    }
}
