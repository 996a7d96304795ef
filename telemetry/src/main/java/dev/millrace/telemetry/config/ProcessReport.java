package dev.millrace.telemetry.config;

import io.smallrye.health.SmallRyeHealth;
import io.smallrye.health.SmallRyeHealthReporter;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.JsonArray;
import jakarta.json.JsonObject;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** What this process says of itself when somebody asks for the installation as a whole. For any thread. */
@Singleton
public class ProcessReport {

    private final SmallRyeHealthReporter health;
    private final String name;
    private final String version;

    @Inject
    ProcessReport(
            SmallRyeHealthReporter health,
            @ConfigProperty(name = "quarkus.application.name", defaultValue = "unknown") String name,
            @ConfigProperty(name = "quarkus.application.version", defaultValue = "unknown") String version) {
        this.health = health;
        this.name = name;
        this.version = version;
    }

    /**
     * This process.
     *
     * @param name of its application
     * @param instance host and process: equal for two answers of one process, and for no others
     * @param reasons why it is not ready: what each check that fails says
     * @param startedMs in Unix milliseconds
     */
    public record State(
            String name, String instance, String version, boolean ready, List<String> reasons, long startedMs) {

        public State {
            reasons = List.copyOf(reasons);
        }
    }

    /** As it is now; asks what is asked for {@code /q/health/ready}. */
    public State now() {
        SmallRyeHealth readiness = health.getReadiness();
        JsonArray checks = readiness.getPayload().getJsonArray("checks");
        List<String> reasons = checks == null
                ? List.of()
                : checks.getValuesAs(JsonObject.class).stream()
                        .filter(check -> !"UP".equals(check.getString("status", "")))
                        .map(ProcessReport::words)
                        .toList();
        return new State(
                name,
                host() + '/' + ProcessHandle.current().pid(),
                version,
                !readiness.isDown(),
                reasons,
                ManagementFactory.getRuntimeMXBean().getStartTime());
    }

    private static String words(JsonObject check) {
        String name = check.getString("name", "");
        JsonObject data = check.getJsonObject("data");
        return data == null ? name : name + ": " + data.getString("reason", data.toString());
    }

    /** As the operating system or the container engine says it; asking the network may take seconds. */
    private static String host() {
        String name = System.getenv("HOSTNAME");
        return name == null || name.isBlank() ? "localhost" : name;
    }
}
