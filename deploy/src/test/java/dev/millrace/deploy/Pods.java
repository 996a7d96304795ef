package dev.millrace.deploy;

import static dev.millrace.deploy.Manifests.container;
import static dev.millrace.deploy.Manifests.name;
import static dev.millrace.deploy.Manifests.pod;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Workloads of the manifests as processes of this machine, with the keys of the manifests, each found at the
 * {@link Endpoints} of its service while it is ready.
 */
final class Pods implements AutoCloseable {

    private static final Pattern KEY = Pattern.compile("mlr_\\S+");
    private static final int DEFAULT_GRACE_SECONDS = 30;
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);
    /** For many that start at the same moment. */
    private static final Duration START_LIMIT = ServiceProcess.START_LIMIT.multipliedBy(2);

    private final Manifests manifests;
    private final SecuredBroker broker;
    private final Path folder;
    private final Map<String, Map<String, String>> more;
    private final String secret = UUID.randomUUID().toString();
    private final Map<String, Endpoints> endpoints = new ConcurrentHashMap<>();
    private final List<Pod> pods = new CopyOnWriteArrayList<>();
    private final AtomicInteger numbers = new AtomicInteger();

    /**
     * None yet.
     *
     * @param folder for what they store and for what is mounted: {@code etc} and {@code workspace}
     * @param more variables by service, which count more than those of the manifests
     */
    Pods(Manifests manifests, SecuredBroker broker, Path folder, Map<String, Map<String, String>> more) {
        this.manifests = manifests;
        this.broker = broker;
        this.folder = folder;
        this.more = more;
    }

    /** Has the file of keys that the manifests mount in this folder, with one that may do everything, and returns that. */
    static String createKey(Path folder) throws IOException {
        Path keys = Files.createDirectories(folder.resolve("etc/keys")).resolve("keys.json");
        try (ServiceProcess create = ServiceProcess.standalone(
                        "keys", "create", "alice", "--grant", "*:*", "--file", keys.toString())
                .start(folder)) {
            assertThat(create.awaitEnd(ServiceProcess.START_LIMIT))
                    .as(create.output())
                    .isZero();
            Matcher printed = KEY.matcher(create.output());
            assertThat(printed.find()).as(create.output()).isTrue();
            return printed.group();
        }
    }

    /** Starts so many of it; does not wait. */
    void start(ObjectNode workload, int replicas) {
        for (int i = 0; i < replicas; i++) {
            start(workload, folder.resolve(name(workload) + '-' + numbers.getAndIncrement()));
        }
    }

    private Pod start(ObjectNode workload, Path state) {
        try {
            Files.createDirectories(state);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Pod pod = new Pod(workload, state, FreePort.find());
        pods.add(pod);
        return pod;
    }

    void awaitReady() {
        pods.forEach(Pod::awaitReady);
    }

    /** Where a service is found. */
    int port(String service) {
        return endpoints(service).port();
    }

    private Endpoints endpoints(String service) {
        return endpoints.computeIfAbsent(service, any -> Endpoints.open());
    }

    /**
     * Replaces all pods of a service, one after the other: those of a Deployment by others that are ready before, those
     * of a StatefulSet by themselves with what they have stored.
     */
    void roll(String service) throws InterruptedException {
        List<Pod> old =
                pods.stream().filter(pod -> name(pod.workload).equals(service)).toList();
        for (Pod pod : old) {
            boolean keeps = pod.workload.path("kind").asText().equals("StatefulSet");
            if (keeps) {
                pod.stop();
            }
            Pod next =
                    start(pod.workload, keeps ? pod.state : folder.resolve(service + '-' + numbers.getAndIncrement()));
            next.awaitReady();
            TimeUnit.SECONDS.sleep(pod.workload.at("/spec/minReadySeconds").asInt());
            if (!keeps) {
                pod.stop();
            }
        }
    }

    /** That of the manifests, on this machine. */
    private Map<String, String> environment(ObjectNode workload, Path state, int port) {
        Map<String, String> environment = new TreeMap<>(manifests.environment(workload));
        environment.replaceAll((variable, value) -> value.replace("/var/lib/millrace", state.toString())
                .replace("/etc/millrace/kafka/ca.crt", broker.certificate().toString())
                .replace("/etc/millrace", folder + "/etc")
                .replace("/workspace", folder + "/workspace")
                .replace("http://agent:8081", "http://127.0.0.1:" + port("agent"))
                .replace("http://knowledge:8084", "http://127.0.0.1:" + port("knowledge"))
                .replace("http://collector.observability:4318", "http://127.0.0.1:1"));
        environment.put("KAFKA_SASL_JAAS_CONFIG", broker.login(manifests.user(workload)));
        environment.put("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrapServers());
        environment.put("QUARKUS_HTTP_HOST", "127.0.0.1");
        environment.put("QUARKUS_HTTP_PORT", Integer.toString(port));
        environment.put("MILLRACE_HTTP_INTERNAL_SECRET", secret);
        environment.putAll(more.getOrDefault(name(workload), Map.of()));
        return environment;
    }

    @Override
    public void close() throws IOException {
        pods.forEach(Pod::kill);
        for (Endpoints one : endpoints.values()) {
            one.close();
        }
    }

    /** One process, and what a kubelet knows of it. */
    private final class Pod {
        private final ObjectNode workload;
        private final Path state;
        private final int port;
        private final ServiceProcess process;
        private final Thread probe;
        private volatile boolean ready;
        private volatile boolean ending;

        Pod(ObjectNode workload, Path state, int port) {
            this.workload = workload;
            this.state = state;
            this.port = port;
            String service = name(workload);
            ServiceProcess.Builder builder =
                    ServiceProcess.service(service.equals("knowledge") ? service : service + "-service");
            environment(workload, state, port).forEach(builder::env);
            this.process = builder.start(state);
            this.probe = Thread.ofVirtual().start(this::probe);
        }

        /** As the manifest has it, but more often while it is not ready. */
        private void probe() {
            String path = container(workload).at("/readinessProbe/httpGet/path").asText();
            HttpApi readiness = new HttpApi(process.management(path));
            int period = container(workload).at("/readinessProbe/periodSeconds").asInt();
            int threshold =
                    container(workload).at("/readinessProbe/failureThreshold").asInt();
            int failures = 0;
            try {
                while (!ending) {
                    failures = readiness.status("") == 200 ? 0 : failures + 1;
                    if (failures == 0 || failures >= threshold) {
                        set(failures == 0);
                    }
                    Thread.sleep(ready ? Duration.ofSeconds(period) : LOOK_AGAIN);
                }
            } catch (InterruptedException e) {
                // not asked any more
            }
        }

        private synchronized void set(boolean now) {
            ready = now && !ending;
            if (ready) {
                endpoints(name(workload)).add(port);
            } else {
                endpoints(name(workload)).remove(port);
            }
        }

        void awaitReady() {
            process.awaitThat("readiness", START_LIMIT, () -> ready);
        }

        void stop() throws InterruptedException {
            forget();
            int pause =
                    container(workload).at("/lifecycle/preStop/sleep/seconds").asInt();
            int grace = pod(workload).path("terminationGracePeriodSeconds").asInt(DEFAULT_GRACE_SECONDS);
            TimeUnit.SECONDS.sleep(pause);
            process.stop(Duration.ofSeconds(grace - pause));
        }

        void kill() {
            forget();
            process.close();
        }

        private void forget() {
            ending = true;
            probe.interrupt();
            set(false);
            pods.remove(this);
        }
    }
}
