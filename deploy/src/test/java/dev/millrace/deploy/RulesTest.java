package dev.millrace.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each rule refuses manifests with one fault. */
class RulesTest {

    private static final Manifests GOOD = Manifests.rendered("production");
    private static Set<String> keys = Set.of();

    @BeforeAll
    static void readKeys() throws IOException {
        keys = ManifestsTest.keys();
    }

    /**
     * A fault.
     *
     * @param kind of the document that has it
     * @param name of that; the beginning is enough
     * @param place what is changed in it
     * @param value what to, as YAML; {@code gone} = it is removed
     * @param problem part of what is to be said
     */
    record Fault(String kind, String name, String place, String value, String problem) {}

    private static final String POD = "/spec/template/spec";
    private static final String CONTAINER = POD + "/containers/0";
    private static final String RULE = "/spec/rules/0";

    static Stream<Fault> faults() {
        return Stream.of(
                // what is named is not there
                new Fault(
                        "Deployment",
                        "gateway",
                        "/spec/template/metadata/labels/app.kubernetes.io~1name",
                        "web",
                        "selector"),
                new Fault("Deployment", "tool", POD + "/serviceAccountName", "root", "no ServiceAccount root"),
                new Fault("StatefulSet", "agent", "/spec/serviceName", "agents", "no Service agents"),
                new Fault(
                        "Deployment",
                        "gateway",
                        CONTAINER + "/envFrom/0/configMapRef/name",
                        "keys",
                        "no ConfigMap keys"),
                new Fault(
                        "StatefulSet",
                        "agent",
                        CONTAINER + "/envFrom/2/secretRef/optional",
                        "false",
                        "no Secret models"),
                new Fault(
                        "Deployment",
                        "tool",
                        POD + "/volumes/2/persistentVolumeClaim/claimName",
                        "files",
                        "no Persistent"),
                new Fault("StatefulSet", "agent", CONTAINER + "/volumeMounts/1/name", "disk", "no volume disk"),
                new Fault("Service", "gateway", "/spec/selector/app.kubernetes.io~1name", "web", "selects no pod"),
                new Fault("Service", "agent", "/spec/ports/0/targetPort", "https", "no port https"),
                new Fault(
                        "PodDisruptionBudget",
                        "agent",
                        "/spec/selector/matchLabels/app.kubernetes.io~1name",
                        "a",
                        "selects no"),
                new Fault("ScaledObject", "tool", "/spec/scaleTargetRef/name", "tools", "scales nothing"),
                new Fault("HTTPRoute", "gateway", RULE + "/backendRefs/0/port", "80", "no Service"),
                new Fault(
                        "KafkaTopic",
                        "millrace.journal",
                        "/metadata/labels/strimzi.io~1cluster",
                        "main",
                        "no Kafka main"),
                new Fault("KafkaNodePool", "brokers", "/metadata/labels/strimzi.io~1cluster", "main", "no Kafka main"),
                new Fault(
                        "KafkaUser", "millrace-tool", "/metadata/labels/strimzi.io~1cluster", "main", "no Kafka main"),
                // logins
                new Fault("ConfigMap", "common-", "/data/KAFKA_SECURITY_PROTOCOL", "SSL", "does not speak SASL_SSL"),
                new Fault("ConfigMap", "common-", "/data/KAFKA_SASL_MECHANISM", "PLAIN", "log in by scram-sha-512"),
                new Fault("ConfigMap", "common-", "/data/KAFKA_SSL_TRUSTSTORE_LOCATION", "/etc/ca", "certificate of"),
                new Fault("Kafka", "millrace", "/spec/kafka/listeners/0/authentication", "gone", "speak SSL"),
                new Fault("Kafka", "millrace", "/spec/kafka/listeners/0/tls", "false", "speak SASL_PLAINTEXT"),
                new Fault("StatefulSet", "agent", CONTAINER + "/env", "[]", "no user at the brokers"),
                new Fault(
                        "StatefulSet",
                        "agent",
                        CONTAINER + "/env/0/valueFrom/secretKeyRef/name",
                        "millrace-tool",
                        "somebody else"),
                new Fault("KafkaUser", "millrace-tool", "/metadata/name", "tool", "no Secret millrace-tool"),
                // rights
                new Fault("Deployment", "gateway", POD + "/securityContext/runAsUser", "1000", "images' user"),
                new Fault("Deployment", "gateway", POD + "/securityContext/runAsNonRoot", "gone", "runAsNonRoot"),
                new Fault("Deployment", "gateway", POD + "/securityContext/seccompProfile", "gone", "seccomp"),
                new Fault("StatefulSet", "agent", POD + "/securityContext/fsGroup", "gone", "not its group's"),
                new Fault(
                        "Deployment",
                        "tool",
                        CONTAINER + "/securityContext/readOnlyRootFilesystem",
                        "gone",
                        "written to"),
                new Fault(
                        "Deployment",
                        "tool",
                        CONTAINER + "/securityContext/allowPrivilegeEscalation",
                        "gone",
                        "escalated"),
                new Fault(
                        "Deployment",
                        "tool",
                        CONTAINER + "/securityContext/capabilities",
                        "{drop: [CHOWN]}",
                        "capabilities"),
                new Fault("Deployment", "tool", CONTAINER + "/securityContext/privileged", "true", "privileged"),
                new Fault("Deployment", "tool", POD + "/automountServiceAccountToken", "gone", "token"),
                new Fault("Deployment", "tool", POD + "/hostNetwork", "true", "node"),
                new Fault("StatefulSet", "agent", CONTAINER + "/resources/limits/memory", "4Gi", "memory"),
                new Fault("StatefulSet", "agent", CONTAINER + "/resources/requests/cpu", "gone", "no CPU"),
                new Fault("StatefulSet", "agent", CONTAINER + "/image", "millrace/agent:latest", "may change"),
                new Fault("StatefulSet", "agent", CONTAINER + "/image", "registry.example:5000/agent", "may change"),
                // probes and folders
                new Fault("Deployment", "gateway", CONTAINER + "/readinessProbe/httpGet/port", "web", "readinessProbe"),
                new Fault("Deployment", "gateway", CONTAINER + "/livenessProbe/httpGet/port", "http", "livenessProbe"),
                new Fault("Deployment", "gateway", CONTAINER + "/startupProbe", "gone", "startupProbe"),
                new Fault("Deployment", "gateway", CONTAINER + "/volumeMounts", "[]", "/tmp"),
                new Fault(
                        "StatefulSet", "reflection", CONTAINER + "/volumeMounts/2/mountPath", "/data", "on no volume"),
                // keys
                new Fault("ConfigMap", "agent-", "/data/MILLRACE_AGENT_STATE_DIRS", "/tmp/x", "stops the start"),
                new Fault("ConfigMap", "knowledge-", "/data/MILLRACE_KNOWLEDGE_STATE", "/tmp/x", "stops the start"),
                new Fault("ConfigMap", "knowledge-", "/data/MILLRACE_KNOWLEDGE_STATE_DIR", "/srv", "on no volume"),
                new Fault("ConfigMap", "common-", "/data/KAFKA_CLIENT_RACK", "'${RACK}'", "expanded"),
                new Fault("ConfigMap", "agent-", "/data/KAFKA_GROUP_INSTANCE_ID", "agent-0", "fatal"),
                new Fault("ConfigMap", "agent-", "/data/KAFKA_NUM_STANDBY_REPLICAS", "1", "ignored"),
                new Fault("ConfigMap", "common-", "/data/QUARKUS_HTTP_HOST", "gone", "itself alone"),
                // ways
                new Fault("NetworkPolicy", "default-deny", "/spec/policyTypes", "[Ingress]", "denies"),
                new Fault("NetworkPolicy", "dns", "/spec/egress/0/ports", "[{port: 5353}]", "ask for names"),
                new Fault("NetworkPolicy", "https", "/spec/podSelector/matchExpressions/0/values", "[tool]", "a model"),
                new Fault("NetworkPolicy", "kafka", "/spec/egress/0/ports/0/port", "9092", "reach Kafka"),
                new Fault("Kafka", "millrace", "/spec/kafka/listeners/0/networkPolicyPeers", "[]", "reach Kafka"),
                new Fault("ConfigMap", "common-", "/data/KAFKA_BOOTSTRAP_SERVERS", "kafka:9092", "reach Kafka"),
                new Fault(
                        "NetworkPolicy",
                        "questions-to-agent",
                        "/spec/ingress/0/from",
                        "[]",
                        "policies keep it from agent"),
                new Fault(
                        "NetworkPolicy",
                        "questions-from-gateway-and-tool",
                        "/spec/egress/0/to",
                        "[]",
                        "policies keep it from agent"),
                new Fault(
                        "NetworkPolicy",
                        "questions-to-knowledge",
                        "/spec/ingress/0/from",
                        "[]",
                        "policies keep it from knowledge"),
                new Fault(
                        "NetworkPolicy",
                        "questions-from-gateway-and-agent",
                        "/spec/podSelector/matchExpressions/0/values",
                        "[gateway]",
                        "StatefulSet/agent: policies keep it from knowledge"),
                new Fault(
                        "ConfigMap", "agent-", "/data/MILLRACE_AGENT_KNOWLEDGE_URL", "http://know:8084", "there is no"),
                new Fault(
                        "ConfigMap", "gateway-", "/data/MILLRACE_GATEWAY_AGENT_URL", "http://agent:80", "there is no"),
                new Fault("ConfigMap", "agent-", "/data/MILLRACE_HTTP_ALLOWED_HOSTS", "gone", "name agent"),
                new Fault(
                        "NetworkPolicy",
                        "otlp",
                        "/spec/egress/0/ports/0/port",
                        "4317",
                        "cannot reach http://collector"),
                new Fault("NetworkPolicy", "clients-to", "/spec/ingress/0/ports/0/port", "web", "no port web"),
                new Fault("NetworkPolicy", "questions-from", "/spec/egress/0/ports/0/port", "web", "no port web"),
                new Fault("NetworkPolicy", "scrape", "/spec/podSelector/matchLabels", "{a: b}", "selects no pod"),
                new Fault("PodMonitor", "millrace", "/spec/podMetricsEndpoints/0/port", "metrics", "no way to"),
                new Fault("PodMonitor", "millrace", "/spec/podMetricsEndpoints/0/port", "http", "no way to"),
                new Fault("NetworkPolicy", "scrape", "/spec/ingress/0/ports/0/port", "http", "reaches more than"),
                new Fault("PodMonitor", "millrace", "/spec/selector/matchLabels", "{a: b}", "selects no pod"),
                // what works, and not as it should
                new Fault("ScaledObject", "tool", "/spec/triggers/0/type", "kafka", "share group"),
                new Fault("ScaledObject", "tool", "/spec/minReplicaCount", "0", "a member"),
                new Fault("HorizontalPodAutoscaler", "gateway", "/spec/minReplicas", "1", "one instance"),
                new Fault("HorizontalPodAutoscaler", "gateway", "/spec/scaleTargetRef/name", "web", "scales nothing"),
                new Fault("Deployment", "gateway", "/spec/replicas", "2", "how many instances"),
                new Fault("HTTPRoute", "gateway", RULE + "/timeouts/request", "10s", "streams"),
                new Fault("HTTPRoute", "gateway", "/spec/hostnames/0", "other.example", "no service answers"),
                new Fault("KafkaNodePool", "brokers", "/spec/replicas", "1", "more copies of share.coordinator"),
                new Fault("Kafka", "millrace", "/spec/kafka/config/min.insync.replicas", "3", "no broker to lose"));
    }

    @ParameterizedTest
    @MethodSource("faults")
    @DisplayName("a fault is refused, and named")
    void shouldRefuse(Fault fault) throws IOException {
        // given
        Manifests bad = with(fault);

        // when
        List<String> problems = Rules.problems(bad, ManifestsTest.user(), keys);

        // then
        assertThat(problems).anySatisfy(problem -> assertThat(problem).contains(fault.problem()));
    }

    @ParameterizedTest
    @CsvSource({
        "Deployment, gateway, /spec/replica",
        "Deployment, gateway, /spec/template/spec/containers/0/enviroment",
        "StatefulSet, agent, /spec/volumeClaimTemplates/0/spec/storage",
        "NetworkPolicy, dns, /spec/egress/0/port",
        "Kafka, millrace, /spec/kafka/listeners/0/auth",
        "KafkaNodePool, brokers, /spec/volumes",
        "KafkaTopic, millrace.journal, /spec/retention",
        "KafkaUser, millrace-tool, /spec/authorization/acls/0/operation",
        "PodMonitor, millrace, /spec/podMetricsEndpoints/0/portName",
        "PrometheusRule, millrace, /spec/groups/0/rules/0/severity",
        "HTTPRoute, gateway, /spec/rules/0/timeout",
        "ScaledObject, tool, /spec/triggers/0/query",
        "HorizontalPodAutoscaler, gateway, /spec/metrics/0/resource/value"
    })
    @DisplayName("a field that there is not is refused")
    void shouldRefuseUnknownFields(String kind, String name, String place) throws IOException {
        // given
        Manifests bad = with(new Fault(kind, name, place, "{a: b}", ""));

        // then
        assertThat(bad.documents().stream().map(Models::problem)).anyMatch(problem -> problem.isPresent());
    }

    @ParameterizedTest
    @CsvSource({
        "Deployment, gateway, /spec/selector",
        "StatefulSet, agent, /spec/template",
        "Service, gateway, /spec/ports/0/port"
    })
    @DisplayName("a field that is missing is refused")
    void shouldRefuseMissingFields(String kind, String name, String place) throws IOException {
        // given
        Manifests bad = with(new Fault(kind, name, place, "gone", ""));

        // then
        assertThat(bad.documents().stream().map(Models::problem)).anyMatch(problem -> problem.isPresent());
    }

    @Test
    @DisplayName("a key that stands twice is refused")
    void shouldRefuseDoubleKeys() {
        assertThatThrownBy(() -> Manifests.parse("kind: Service\nmetadata: {}\nkind: Secret\n"))
                .hasMessageContaining("Duplicate field 'kind'");
    }

    @Test
    @DisplayName("the names of metrics are found in queries, and nothing else")
    void shouldFindMetricsInQueries() throws IOException {
        // given
        Manifests all = Manifests.parse("""
                kind: PrometheusRule
                spec:
                  expr: |
                    sum by (toolset) (rate(millrace_a_total{reason="millrace_b"}[5m])) > 0 and on (pod) millrace_c_bytes / up < 0.5
                """);

        // then
        assertThat(Queries.metrics(all)).containsExactly("millrace_a_total", "millrace_c_bytes");
    }

    private static Manifests with(Fault fault) throws IOException {
        Manifests bad = GOOD.copy();
        ObjectNode document = bad.of(fault.kind())
                .filter(candidate -> Manifests.name(candidate).startsWith(fault.name()))
                .findFirst()
                .orElseThrow();
        JsonPointer place = JsonPointer.compile(fault.place());
        JsonNode parent = document.at(place.head());
        String key = place.last().getMatchingProperty();
        boolean gone = fault.value().equals("gone");
        JsonNode value = gone ? null : Manifests.YAML.readTree(fault.value());
        switch (parent) {
            case ArrayNode list -> list.set(Integer.parseInt(key), value);
            case ObjectNode object
            when gone -> assertThat(object.remove(key)).as(fault.place()).isNotNull();
            case ObjectNode object -> object.set(key, value);
            default -> throw new IllegalArgumentException("nothing at " + fault.place());
        }
        return bad;
    }
}
