package dev.millrace.bench;

import dev.millrace.schemas.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Through HTTP, as most people do: {@code POST /v1/tasks?wait=…} returns with the answer. */
final class HttpDriver implements Driver {

    private static final int OK = 200;

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
    private final HttpRequest request;
    private final String completed;
    private final Tally tally = new Tally();
    private final List<Thread> workers = new ArrayList<>();
    private volatile int wanted;

    /**
     * To Millrace.
     *
     * @param text what each task asks
     */
    HttpDriver(URI api, String text) {
        this(
                HttpRequest.newBuilder(URI.create(api + "/v1/tasks?wait=60s"))
                        .timeout(Duration.ofSeconds(90))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofByteArray(Json.write(Map.of("text", text))))
                        .build(),
                "\"completed\"");
    }

    /**
     * To whoever takes this request.
     *
     * @param completed what the answer contains if all went well
     */
    HttpDriver(HttpRequest request, String completed) {
        this.request = request;
        this.completed = completed;
    }

    @Override
    public String ingress() {
        return "http";
    }

    @Override
    public void keep(int inFlight) {
        wanted = inFlight;
        while (workers.size() < inFlight) {
            int number = workers.size();
            workers.add(Thread.ofVirtual().name("http-driver-" + number).start(() -> work(number)));
        }
    }

    private void work(int number) {
        try {
            while (number < wanted) {
                long sent = System.nanoTime();
                HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
                if (response.statusCode() == OK && response.body().contains(completed)) {
                    tally.completed(sent);
                } else {
                    tally.failed("status " + response.statusCode() + ": " + response.body());
                    return;
                }
            }
        } catch (IOException e) {
            tally.failed(String.valueOf(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void startNoting() {
        tally.restart();
    }

    @Override
    public Latencies noted() {
        return tally.latencies();
    }

    /** Has no new tasks go in, and returns when those in flight have ended; after five seconds for each at most. */
    void rest() {
        wanted = 0;
        workers.forEach(worker -> Uninterrupted.join(worker, Duration.ofSeconds(5)));
        workers.clear();
    }

    @Override
    public void close() {
        rest();
        client.shutdownNow();
    }
}
