package dev.millrace.bench.crash;

import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;

/** What services say about themselves, asked with little patience: one of them may be stopped just now. */
final class Health {

    private static final Duration LIMIT = Duration.ofSeconds(2);
    private static final int DOWN = 503;

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(LIMIT)
            .build();

    /** Why this service does not do its work; empty if it does. */
    Optional<String> notReady(ServiceProcess service) throws InterruptedException {
        try {
            HttpResponse<String> answer = get(service.management("/q/health/ready"));
            return answer.statusCode() == 200
                    ? Optional.empty()
                    : Optional.of(answer.body().replaceAll("\\s+", " "));
        } catch (IOException e) {
            return Optional.of("no answer (" + e + ")");
        }
    }

    /** What this service will not get over without a restart; empty if it may, or says nothing. */
    Optional<String> notLive(ServiceProcess service) throws InterruptedException {
        try {
            HttpResponse<String> answer = get(service.management("/q/health/live"));
            return answer.statusCode() == DOWN ? Optional.of(answer.body().replaceAll("\\s+", " ")) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private HttpResponse<String> get(URI url) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(url).timeout(LIMIT).build(), BodyHandlers.ofString());
    }
}
