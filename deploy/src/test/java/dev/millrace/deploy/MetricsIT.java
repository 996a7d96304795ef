package dev.millrace.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Alerts, dashboards and scaling ask for metrics that there are. */
class MetricsIT {

    private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z_][a-z0-9_]*)[ {]");
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    @Test
    @DisplayName("every metric of an alert, a dashboard or a trigger is in /q/metrics after a task and a dead letter")
    void shouldAskForMetricsThatThereAre() throws Exception {
        // given
        Set<String> asked = Queries.metrics(Manifests.rendered("production"));
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up", "--port", Integer.toString(port), "--kafka-port", Integer.toString(kafkaPort))
                .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
            HttpApi api = HttpApi.onPort(port);

            // when
            api.awaitEnd(api.submit("Which files are in the workspace?"), LIMIT);
            sendGarbage(kafkaPort);

            // then
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(
                                    SAMPLE.matcher(api.get("/q/metrics").body())
                                            .results()
                                            .map(sample -> sample.group(1))
                                            .collect(Collectors.toSet()))
                            .containsAll(asked));
            assertThat(asked).hasSizeGreaterThan(10);
        }
    }

    private static void sendGarbage(int kafkaPort) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:" + kafkaPort),
                new StringSerializer(),
                new StringSerializer())) {
            producer.send(new ProducerRecord<>(new Topics(Topics.DEFAULT_PREFIX).lane(Segment.EXTERNAL), "no event"))
                    .get();
        }
    }
}
