package dev.millrace.deploy;

import static dev.millrace.deploy.Manifests.name;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.testing.HttpApi;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two of each service with the keys of the manifests, all replaced under load, each as Kubernetes does it: one service
 * after the other, or with {@code -Dmillrace.test.roll.together=true} all at the same time, as {@code kubectl apply} does.
 * That is nine or eleven JVMs, too many beside other tests: it is run by itself, with {@code -Dmillrace.test.roll=true}.
 * {@code -Dmillrace.test.roll.rate} is how many tasks come in a second, and {@code -Dmillrace.test.roll.warm-up} for how
 * many seconds before. What it says of times is of this machine.
 */
class RollIT {

    private static final int RATE = Integer.getInteger("millrace.test.roll.rate", 10);
    private static final int WARM_UP_SECONDS = Integer.getInteger("millrace.test.roll.warm-up", 8);
    private static final boolean TOGETHER = Boolean.getBoolean("millrace.test.roll.together");
    private static final List<String> SERVICES = List.of("tool", "agent", "reflection", "gateway");
    /** So long a task may take; a model call or a request that was under way is made again within. */
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private static final String SCRIPT = """
            rules:
              - user: 'read'
                steps:
                  - calls:
                      - { tool: read_file, arguments: { path: mill.txt } }
                  - text: "{{result.read_file}}"
            """;

    private final Manifests manifests = Manifests.rendered("production");
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();

    @TempDir
    Path folder;

    private static void requireToBeWanted() {
        boolean wanted = Boolean.getBoolean("millrace.test.roll");
        if (!wanted) {
            System.err.println("SKIPPED: RollIT wants two cores for itself, for minutes"
                    + " (./mvnw -pl deploy verify -Dit.test=RollIT -Dmillrace.test.roll=true)");
        }
        Assumptions.assumeTrue(wanted, "not asked for");
    }

    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    @DisplayName("while all services are replaced under load each task is done once, and streams go on where they were")
    void shouldDoEachTaskOnceWhileAllServicesAreReplaced() throws Exception {
        requireToBeWanted();
        Files.writeString(folder.resolve("script.yaml"), SCRIPT);
        Files.writeString(
                Files.createDirectories(folder.resolve("workspace")).resolve("mill.txt"), "The wheel is of oak.");
        String key = Pods.createKey(folder);
        Map<String, String> model = Map.of(
                "MILLRACE_LLM_MODELS_CLERK_PROVIDER",
                "scripted",
                "MILLRACE_LLM_MODELS_CLERK_SCRIPT",
                folder.resolve("script.yaml").toString());
        try (SecuredBroker broker = SecuredBroker.start(folder);
                Pods pods = new Pods(manifests, broker, folder, Map.of("agent", model));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            // given
            broker.apply(manifests);
            manifests
                    .workloads()
                    .filter(workload -> SERVICES.contains(name(workload)))
                    .forEach(workload -> pods.start(workload, 2));
            pods.awaitReady();
            Load load = new Load(pods.port("gateway"), key);
            Future<List<Future<Told>>> submitted = threads.submit(() -> load.run(threads));
            TimeUnit.SECONDS.sleep(WARM_UP_SECONDS);

            // when
            List<Future<String>> rolls = new ArrayList<>();
            for (String service : SERVICES) {
                Future<String> roll = threads.submit(() -> rolled(pods, service));
                rolls.add(roll);
                if (!TOGETHER) {
                    roll.get();
                }
            }
            List<String> rolled = new ArrayList<>();
            for (Future<String> roll : rolls) {
                rolled.add(roll.get());
            }
            load.stop();

            // then
            List<Told> told = new ArrayList<>();
            for (Future<Told> one : submitted.get()) {
                told.add(one.get());
            }
            List<Long> millis = told.stream().map(Told::millis).sorted().toList();
            System.out.printf(
                    "%d tasks at %d/s through a roll (%s): p50 %d ms, p99 %d ms, slowest %d ms; made again: %s%n",
                    told.size(),
                    RATE,
                    String.join(", ", rolled),
                    millis.get(millis.size() / 2),
                    millis.get(millis.size() * 99 / 100),
                    millis.getLast(),
                    load.again);
            assertThat(load.refused).isEmpty();
            assertThat(told).hasSizeGreaterThan(RATE * WARM_UP_SECONDS).allSatisfy(RollIT::isWhole);
            HttpApi api = HttpApi.onPort(pods.port("gateway")).as(key);
            told.forEach(task -> assertThat(types(api.events(task.id()))).isEqualTo(types(task.events())));
            assertThat(api.get("/v1/dead-letters").json().path("deadLetters")).isEmpty();
            assertThat(Decisions.refused()).isEmpty();
        }
    }

    /** Replaces a service, and says how long that took. */
    private static String rolled(Pods pods, String service) throws InterruptedException {
        long start = System.nanoTime();
        pods.roll(service);
        return service + ' ' + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start) + " s";
    }

    /** No event twice, no model call and no tool call more than the script has, one end. */
    private static void isWhole(Told task) {
        Map<String, Long> count =
                types(task.events()).stream().collect(Collectors.groupingBy(type -> type, Collectors.counting()));
        assertThat(task.events()).extracting(event -> event.path("id")).doesNotHaveDuplicates();
        assertThat(count)
                .as(task.id())
                .containsEntry("TASK_CREATED", 1L)
                .containsEntry("REASON_DONE", 2L)
                .containsEntry("TOOL_CALL_COMPLETED", 1L)
                .containsEntry("TASK_COMPLETED", 1L);
        assertThat(task.events().getLast().at("/payload/result/response").asText())
                .contains("The wheel is of oak.");
    }

    private static List<String> types(List<JsonNode> events) {
        return events.stream().map(event -> event.path("type").asText()).toList();
    }

    /**
     * A task, as its client saw it.
     *
     * @param events what its stream told, up to its end
     * @param millis from the first request until the end was told
     */
    private record Told(String id, List<JsonNode> events, long millis) {}

    /** A client like any other: what is refused for the moment it asks again, a stream that ends it resumes. */
    private final class Load {
        private final int port;
        private final String key;
        private final Map<String, AtomicInteger> again = new ConcurrentHashMap<>();
        private final ConcurrentLinkedQueue<String> refused = new ConcurrentLinkedQueue<>();
        private volatile boolean stopped;

        Load(int port, String key) {
            this.port = port;
            this.key = key;
        }

        void stop() {
            stopped = true;
        }

        /** Until it is stopped. */
        List<Future<Told>> run(ExecutorService threads) throws InterruptedException {
            List<Future<Told>> all = new ArrayList<>();
            long next = System.nanoTime();
            while (!stopped) {
                String id = "roll-" + all.size();
                all.add(threads.submit(() -> task(id)));
                next += TimeUnit.SECONDS.toNanos(1) / RATE;
                TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
            }
            return all;
        }

        private Told task(String id) throws InterruptedException {
            long start = System.nanoTime();
            HttpRequest submit = request("/v1/tasks")
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(
                            Json.write(Map.of("id", id, "text", "Please read " + id))))
                    .build();
            List<JsonNode> events = new ArrayList<>();
            boolean accepted = false;
            while (events.isEmpty() || !events.getLast().path("type").asText().equals("TASK_COMPLETED")) {
                if (System.nanoTime() - start > LIMIT.toNanos()) {
                    throw new AssertionError(id + " has no end after " + LIMIT + "; accepted: " + accepted + "; told: "
                            + types(events) + "; refused: " + refused + "; made again: " + again);
                }
                accepted = accepted || isTaken(send(submit), Set.of(200, 202), Set.of(503));
                if (!accepted || !follow(id, events)) {
                    Thread.sleep(200);
                }
            }
            return new Told(id, events, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
        }

        /** Whether something was told. */
        private boolean follow(String id, List<JsonNode> events) {
            HttpRequest.Builder request = request("/v1/tasks/" + id + "/stream");
            if (!events.isEmpty()) {
                request.header("Last-Event-ID", events.getLast().path("cursor").asText());
            }
            HttpResponse<Stream<String>> answer = send(request.build());
            // a gateway that did not accept it asks agent-service, which may not have come to it: docs/guarantees.md
            if (answer == null || !isTaken(answer, Set.of(200), Set.of(503, 404))) {
                return false;
            }
            int before = events.size();
            try (Stream<String> lines = answer.body()) {
                for (Iterator<String> each = lines.iterator(); each.hasNext(); ) {
                    String line = each.next();
                    if (line.startsWith("data:")) {
                        events.add(Json.MAPPER.readTree(line.substring("data:".length())));
                    }
                }
            } catch (IOException | RuntimeException e) {
                count("stream broken");
            }
            return events.size() > before;
        }

        private boolean isTaken(@Nullable HttpResponse<Stream<String>> answer, Set<Integer> taken, Set<Integer> later) {
            if (answer == null) {
                return false;
            }
            boolean isTaken = taken.contains(answer.statusCode());
            if (!isTaken) {
                String found = answer.request().method() + ' ' + answer.statusCode();
                boolean saysWhen = answer.headers().firstValue("retry-after").isPresent();
                if (later.contains(answer.statusCode()) && (answer.statusCode() != 503 || saysWhen)) {
                    count(found);
                } else {
                    refused.add(found + ' ' + answer.body().collect(Collectors.joining()));
                }
                answer.body().close();
            }
            return isTaken;
        }

        private @Nullable HttpResponse<Stream<String>> send(HttpRequest request) {
            try {
                return http.send(request, BodyHandlers.ofLines());
            } catch (IOException e) {
                count("no answer");
                return null;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return null;
            }
        }

        private void count(String what) {
            again.computeIfAbsent(what, any -> new AtomicInteger()).incrementAndGet();
        }

        private HttpRequest.Builder request(String path) {
            return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                    .timeout(Duration.ofSeconds(30))
                    .header("Authorization", "Bearer " + key);
        }
    }
}
