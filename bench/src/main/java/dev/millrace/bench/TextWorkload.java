package dev.millrace.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.bench.Fleet.Durability;
import dev.millrace.bench.Fleet.Mode;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/**
 * How soon somebody sees what a model says: one question after the other over HTTP, as OpenAI's clients ask, to a model
 * that answers at once. Time counts from the request until its first word is there, and until the end is, which comes
 * when the answer is committed.
 */
final class TextWorkload implements Workload {

    private static final int OK = 200;
    private static final int WARM_UP_IN_FLIGHT = 32;
    private static final String SCRIPT = """
            rules:
              - user: go
                text: "There it is."
              - steps:
                  - calls: [{ tool: base64_encode, arguments: { text: mill } }]
                  - text: "{{result}}"
            """;

    @Mixin
    private Measurement.Times times = new Measurement.Times(15, 20);

    @Mixin
    private FleetOptions fleets = new FleetOptions();

    /** A row of the results. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Row(
            String mode,
            String durability,
            @Nullable List<String> jvm,
            Latencies.Summary firstText,
            Latencies.Summary end,
            double cpuMsPerQuestion) {}

    @Override
    public String name() {
        return "text";
    }

    @Override
    public String summary() {
        return "one question after the other, streamed over HTTP: until the first word, and until the end";
    }

    @Override
    public void run(Report report) throws Exception {
        fleets.forEach((mode, durability) -> measure(mode, durability, report));
    }

    private void measure(Mode mode, Durability durability, Report report)
            throws IOException, InterruptedException, ExecutionException {
        Path folder = Files.createTempDirectory("millrace-bench-");
        Path script = Files.writeString(folder.resolve("script.yaml"), SCRIPT);
        List<String> jvm = fleets.jvm();
        report.progress("text: starting, " + mode.wireName() + ", " + durability.wireName());
        try (Fleet fleet = Fleet.start(mode, durability, folder, script, jvm);
                HttpClient client = HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .build()) {
            report.progress("text: warming up");
            try (Driver driver = new LaneDriver(fleet.kafka(), new LaneDriver.Tasks(fleet.topics(), "warm up"))) {
                driver.keep(WARM_UP_IN_FLIGHT, times.warmUp());
            }
            HttpRequest question = question(fleet.http());
            ask(client, question, times.beforeRow());
            report.progress("text: measuring");
            Footprint before = fleet.footprint();
            Heard heard = ask(client, question, times.seconds());
            double cpu = fleet.footprint().allCpuMsSince(before);
            report.row(new Row(
                    mode.wireName(),
                    durability.wireName(),
                    jvm.isEmpty() ? null : jvm,
                    heard.firstText().summary(),
                    heard.end().summary(),
                    Rounded.to(100, cpu / heard.end().count())));
        } finally {
            Folders.delete(folder);
        }
    }

    private static HttpRequest question(URI api) {
        return HttpRequest.newBuilder(URI.create(api + "/v1/chat/completions"))
                .timeout(Duration.ofSeconds(60))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(Json.write(Map.of(
                        "model",
                        "general",
                        "stream",
                        true,
                        "messages",
                        List.of(Map.of("role", "user", "content", "go"))))))
                .build();
    }

    /** How long it took, from the request to the first word and to the end. */
    private record Heard(Latencies firstText, Latencies end) {}

    private static Heard ask(HttpClient client, HttpRequest question, int seconds)
            throws IOException, InterruptedException {
        Heard heard = new Heard(new Latencies(), new Latencies());
        long until = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
        while (System.nanoTime() < until) {
            long sent = System.nanoTime();
            HttpResponse<Stream<String>> response = client.send(question, BodyHandlers.ofLines());
            try (Stream<String> lines = response.body()) {
                if (response.statusCode() != OK) {
                    throw new IllegalStateException("expected an answer, found status " + response.statusCode() + ": "
                            + String.join(" ", lines.toList()));
                }
                Iterator<String> line = lines.iterator();
                await("\"content\":\"There", line);
                heard.firstText().note(millisSince(sent));
                await("[DONE]", line);
                line.forEachRemaining(rest -> {}); // or the connection could not be used again
                heard.end().note(millisSince(sent));
            }
        }
        return heard;
    }

    private static void await(String wanted, Iterator<String> lines) {
        while (lines.hasNext()) {
            if (lines.next().contains(wanted)) {
                return;
            }
        }
        throw new IllegalStateException("expected " + wanted + ", found the end of the stream");
    }

    private static double millisSince(long nanos) {
        return (System.nanoTime() - nanos) / 1e6;
    }
}
