package dev.millrace.standalone;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Asks the application itself whether all its services are ready, over HTTP as a stranger would. Not thread-safe. */
final class Readiness {

    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(5);

    private final URI ready;
    private String reason = "no answer yet";

    Readiness(String baseUrl) {
        this.ready = URI.create(baseUrl + "/q/health/ready");
    }

    /** True as soon as everything is ready; false if that takes longer. */
    boolean await(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        try (HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(ANSWER_LIMIT)
                .build()) {
            while (System.nanoTime() - end < 0) {
                if (ask(http)) {
                    return true;
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis());
            }
            return false;
        }
    }

    /** What was not ready when last asked, for people. */
    String reason() {
        return reason;
    }

    private boolean ask(HttpClient http) throws InterruptedException {
        try {
            HttpResponse<String> response = http.send(
                    HttpRequest.newBuilder(ready).timeout(ANSWER_LIMIT).build(), HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() == 200) {
                return true;
            }
            reason = down(Json.MAPPER.readTree(response.body()));
        } catch (JsonProcessingException e) {
            reason = "its health is no JSON";
        } catch (IOException e) {
            reason = "no answer from " + ready + " (" + e + ")";
        }
        return false;
    }

    private static String down(JsonNode health) {
        List<String> down = new ArrayList<>();
        health.path("checks").forEach(check -> {
            if (!"UP".equals(check.path("status").asText())) {
                JsonNode data = check.path("data");
                down.add(check.path("name").asText() + (data.isEmpty() ? "" : " " + data));
            }
        });
        return String.join(", ", down);
    }
}
