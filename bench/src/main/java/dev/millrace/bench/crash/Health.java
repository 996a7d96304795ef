package dev.millrace.bench.crash;

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

    /** Why the service on this port does not do its work; empty if it does. */
    Optional<String> notReady(int port) throws InterruptedException {
        try {
            HttpResponse<String> answer = get(port, "ready");
            return answer.statusCode() == 200
                    ? Optional.empty()
                    : Optional.of(answer.body().replaceAll("\\s+", " "));
        } catch (IOException e) {
            return Optional.of("no answer (" + e + ")");
        }
    }

    /** What the service on this port will not get over without a restart; empty if it may, or says nothing. */
    Optional<String> notLive(int port) throws InterruptedException {
        try {
            HttpResponse<String> answer = get(port, "live");
            return answer.statusCode() == DOWN ? Optional.of(answer.body().replaceAll("\\s+", " ")) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private HttpResponse<String> get(int port, String what) throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/q/health/" + what))
                        .timeout(LIMIT)
                        .build(),
                BodyHandlers.ofString());
    }
}
