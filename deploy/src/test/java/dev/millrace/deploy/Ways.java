package dev.millrace.deploy;

import static dev.millrace.deploy.Manifests.containerPort;
import static dev.millrace.deploy.Manifests.labels;
import static dev.millrace.deploy.Manifests.name;
import static dev.millrace.deploy.Manifests.selects;
import static dev.millrace.deploy.Manifests.stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Whether network policies let everybody go where they have to, and deny the rest.
 *
 * @param all the manifests
 * @param problems where what is wrong is noted
 */
record Ways(Manifests all, Problems problems) {
    private static final int HTTPS = 443;
    private static final int DNS = 53;

    /** Notes what is wrong. */
    void check() {
        all.workloads().forEach(this::reachable);
        all.of("NetworkPolicy").forEach(this::policy);
        all.of("PodMonitor").forEach(this::scrape);
    }

    /** Each way that a service needs is open: to DNS, to Kafka, to models and webhooks, to each other. */
    private void reachable(ObjectNode workload) {
        problems.require(
                all.of("NetworkPolicy")
                        .filter(policy -> selects(policy.at("/spec/podSelector"), labels(workload)))
                        .anyMatch(policy -> policy.at("/spec/policyTypes").size() == 2
                                && policy.at("/spec/ingress").isMissingNode()
                                && policy.at("/spec/egress").isMissingNode()),
                workload,
                "no policy denies what is not allowed");
        problems.require(
                rules(workload, "egress").anyMatch(rule -> opens(workload, rule, DNS)),
                workload,
                "cannot ask for names");
        Map<String, String> environment = all.environment(workload);
        if (!name(workload).equals("gateway")) {
            problems.require(
                    rules(workload, "egress")
                            .anyMatch(rule -> opens(workload, rule, HTTPS)
                                    && stream(rule.path("to"))
                                            .anyMatch(to -> to.at("/ipBlock/cidr")
                                                    .asText()
                                                    .equals("0.0.0.0/0"))),
                    workload,
                    "cannot reach a model or a webhook");
        }
        String bootstrap = environment.getOrDefault("KAFKA_BOOTSTRAP_SERVERS", "");
        problems.require(
                all.of("Kafka")
                        .anyMatch(kafka -> stream(kafka.at("/spec/kafka/listeners"))
                                .anyMatch(listener -> isOpen(workload, kafka, listener, bootstrap))),
                workload,
                "cannot reach Kafka at \"" + bootstrap + '"');
        environment.forEach((variable, value) -> {
            if (variable.endsWith("_AGENT_URL") || variable.endsWith("_KNOWLEDGE_URL")) {
                asks(workload, URI.create(value));
            } else if (variable.equals("OTEL_EXPORTER_OTLP_ENDPOINT")) {
                int port = URI.create(value).getPort();
                problems.require(
                        rules(workload, "egress").anyMatch(rule -> opens(workload, rule, port)),
                        workload,
                        "cannot reach " + value);
            }
        });
    }

    /** Whether a listener has this address, and policies on both sides let the workload there. */
    private boolean isOpen(ObjectNode workload, ObjectNode kafka, JsonNode listener, String address) {
        int port = listener.path("port").asInt();
        return address.equals(name(kafka) + "-kafka-bootstrap:" + port)
                && rules(workload, "egress")
                        .filter(rule -> opens(workload, rule, port))
                        .flatMap(rule -> stream(rule.path("to")))
                        .anyMatch(to -> to.at("/podSelector/matchLabels/strimzi.io~1cluster")
                                .asText()
                                .equals(name(kafka)))
                && stream(listener.path("networkPolicyPeers"))
                        .anyMatch(peer -> selects(peer.path("podSelector"), labels(workload)));
    }

    private void asks(ObjectNode client, URI url) {
        ObjectNode service = all.of("Service")
                .filter(candidate -> name(candidate).equals(url.getHost())
                        && candidate.at("/spec/ports/0/port").asInt() == url.getPort())
                .findFirst()
                .orElse(null);
        if (service == null) {
            problems.require(false, client, "there is no " + url);
            return;
        }
        for (ObjectNode server : all.selected(Manifests.byLabels(service.at("/spec/selector")))) {
            int port = containerPort(server, service.at("/spec/ports/0/targetPort"));
            problems.require(
                    rules(client, "egress")
                                    .anyMatch(rule -> opens(server, rule, port) && names(rule.path("to"), server))
                            && rules(server, "ingress")
                                    .anyMatch(rule -> opens(server, rule, port) && names(rule.path("from"), client)),
                    client,
                    "policies keep it from " + name(server));
            problems.require(
                    all.allowedHosts(server).contains(url.getHost()),
                    server,
                    "does not answer to the name " + url.getHost());
        }
    }

    /** The rules of the policies that are for this workload's pods. */
    private Stream<JsonNode> rules(ObjectNode workload, String direction) {
        return all.of("NetworkPolicy")
                .filter(policy -> selects(policy.at("/spec/podSelector"), labels(workload)))
                .flatMap(policy -> stream(policy.at("/spec/" + direction)));
    }

    /** Whether a rule is for this port, by its number or by the name that it has with {@code server}. */
    private static boolean opens(ObjectNode server, JsonNode rule, int port) {
        return stream(rule.path("ports"))
                .map(entry -> entry.path("port"))
                .anyMatch(entry -> entry.isTextual() ? containerPort(server, entry) == port : entry.asInt() == port);
    }

    private static boolean names(JsonNode peers, ObjectNode workload) {
        return stream(peers)
                .anyMatch(peer -> peer.has("podSelector")
                        && !peer.has("namespaceSelector")
                        && selects(peer.path("podSelector"), labels(workload)));
    }

    /** A policy is for pods that there are, and names ports that they have. */
    private void policy(ObjectNode policy) {
        List<ObjectNode> selected = all.selected(policy.at("/spec/podSelector"));
        problems.require(!selected.isEmpty(), policy, "selects no pod");
        for (JsonNode rule : policy.at("/spec/ingress")) {
            namedPorts(policy, rule, selected);
            problems.require(
                    !isForMonitoring(rule)
                            || (!rule.path("ports").isEmpty()
                                    && stream(rule.path("ports"))
                                            .allMatch(entry ->
                                                    entry.path("port").asText().equals(Rules.MANAGEMENT))),
                    policy,
                    "who scrapes reaches more than the management port");
        }
        for (JsonNode rule : policy.at("/spec/egress")) {
            namedPorts(
                    policy,
                    rule,
                    all.workloads()
                            .filter(workload -> names(rule.path("to"), workload))
                            .toList());
        }
    }

    private void namedPorts(ObjectNode policy, JsonNode rule, List<ObjectNode> servers) {
        for (JsonNode entry : rule.path("ports")) {
            JsonNode port = entry.path("port");
            problems.require(
                    !port.isTextual()
                            || (!servers.isEmpty()
                                    && servers.stream().allMatch(server -> containerPort(server, port) > 0)),
                    policy,
                    "no port " + port.asText());
        }
    }

    /** Whether a rule lets in who scrapes metrics. */
    private static boolean isForMonitoring(JsonNode rule) {
        return stream(rule.path("from"))
                .anyMatch(from -> from.at("/namespaceSelector/matchLabels/kubernetes.io~1metadata.name")
                        .asText()
                        .equals("monitoring"));
    }

    /** Who scrapes metrics reaches them, and nothing else. */
    private void scrape(ObjectNode monitor) {
        List<ObjectNode> selected = all.selected(monitor.at("/spec/selector"));
        problems.require(!selected.isEmpty(), monitor, "selects no pod");
        for (JsonNode endpoint : monitor.at("/spec/podMetricsEndpoints")) {
            for (ObjectNode workload : selected) {
                int port = containerPort(workload, endpoint.path("port"));
                problems.require(
                        port > 0
                                && rules(workload, "ingress")
                                        .anyMatch(rule -> opens(workload, rule, port) && isForMonitoring(rule)),
                        monitor,
                        "no way to " + name(workload));
            }
        }
    }
}
