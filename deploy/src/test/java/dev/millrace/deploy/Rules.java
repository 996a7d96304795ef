package dev.millrace.deploy;

import static dev.millrace.deploy.Manifests.container;
import static dev.millrace.deploy.Manifests.id;
import static dev.millrace.deploy.Manifests.labels;
import static dev.millrace.deploy.Manifests.name;
import static dev.millrace.deploy.Manifests.pod;
import static dev.millrace.deploy.Manifests.selects;
import static dev.millrace.deploy.Manifests.stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What no schema can say: whether the documents fit each other, the services, and what is allowed to run. Each rule has
 * manifests in {@code RulesTest} that it refuses.
 */
final class Rules {

    private static final List<String> PROBES = List.of("startupProbe", "readinessProbe", "livenessProbe");

    /** Variables whose values are folders that are written to. */
    private static final String FOLDERS = "MILLRACE_.*(_STATE_DIR|_WORKSPACE)";

    /** Kafka's settings that look right and are not: what the brokers' protocol makes of them. */
    private static final Map<String, String> TRAPS = Map.of(
            "GROUP_INSTANCE_ID", "static membership is fatal with the streams protocol",
            "NUM_STANDBY_REPLICAS", "standbys are a setting of the brokers, and a client's is ignored");

    private static final int HTTPS = 443;
    private static final int DNS = 53;

    private final Manifests all;
    private final String user;
    private final Set<String> keys;
    private final List<String> problems = new ArrayList<>();

    private Rules(Manifests all, String user, Set<String> keys) {
        this.all = all;
        this.user = user;
        this.keys = keys;
    }

    /**
     * All that is wrong.
     *
     * @param user what the images run as
     * @param keys configuration keys that there are, as names of variables
     */
    static List<String> problems(Manifests all, String user, Set<String> keys) {
        Rules rules = new Rules(all, user, keys);
        all.workloads().forEach(workload -> {
            rules.references(workload);
            rules.restricted(workload);
            rules.probes(workload);
            rules.folders(workload);
            rules.variables(workload);
            rules.reachable(workload);
        });
        rules.each(rules::service, "Service");
        rules.each(rules::budget, "PodDisruptionBudget");
        rules.each(rules::policy, "NetworkPolicy");
        rules.each(rules::scaling, "ScaledObject");
        rules.each(rules::route, "HTTPRoute");
        rules.each(rules::scrape, "PodMonitor");
        rules.each(rules::brokers, "KafkaNodePool");
        rules.each(rules::topic, "KafkaTopic");
        return rules.problems;
    }

    private void each(Consumer<ObjectNode> rule, String kind) {
        all.of(kind).forEach(rule);
    }

    private void require(boolean holds, JsonNode document, String problem) {
        if (!holds) {
            problems.add(id(document) + ": " + problem);
        }
    }

    /** Everything that a pod names is there, but for what says that it may be missing. */
    private void references(ObjectNode workload) {
        require(
                selects(workload.at("/spec/selector"), labels(workload)),
                workload,
                "its selector does not match the labels of its pods");
        String account = pod(workload).path("serviceAccountName").asText();
        require(all.has("ServiceAccount", account), workload, "no ServiceAccount " + account);
        if (workload.at("/kind").asText().equals("StatefulSet")) {
            String service = workload.at("/spec/serviceName").asText();
            require(all.has("Service", service), workload, "no Service " + service);
        }
        for (JsonNode source : container(workload).path("envFrom")) {
            source.properties()
                    .forEach(entry -> there(
                            workload,
                            entry.getKey().equals("secretRef") ? "Secret" : "ConfigMap",
                            entry.getValue().path("name").asText(),
                            entry.getValue()));
        }
        for (JsonNode volume : pod(workload).path("volumes")) {
            there(workload, "ConfigMap", volume.at("/configMap/name").asText(), volume.path("configMap"));
            there(workload, "Secret", volume.at("/secret/secretName").asText(), volume.path("secret"));
            there(
                    workload,
                    "PersistentVolumeClaim",
                    volume.at("/persistentVolumeClaim/claimName").asText(),
                    volume.path("persistentVolumeClaim"));
        }
        Set<String> volumes = Stream.concat(
                        stream(pod(workload).path("volumes")).map(volume -> volume.path("name")),
                        stream(workload.at("/spec/volumeClaimTemplates")).map(claim -> claim.at("/metadata/name")))
                .map(JsonNode::asText)
                .collect(Collectors.toSet());
        for (JsonNode mount : container(workload).path("volumeMounts")) {
            String volume = mount.path("name").asText();
            require(volumes.contains(volume), workload, "no volume " + volume);
        }
    }

    private void there(ObjectNode by, String kind, String name, JsonNode reference) {
        require(
                reference.isMissingNode() || reference.path("optional").asBoolean() || all.has(kind, name),
                by,
                "no " + kind + ' ' + name);
    }

    /** Pod Security "restricted" and stricter: the user of the images, nothing to write to but volumes, no token. */
    private void restricted(ObjectNode workload) {
        JsonNode pod = pod(workload).path("securityContext");
        JsonNode own = container(workload).path("securityContext");
        require(pod.path("runAsNonRoot").asBoolean(), workload, "runAsNonRoot is not true");
        require(
                user.equals(pod.path("runAsUser").asText()
                        + ':'
                        + pod.path("runAsGroup").asText()),
                workload,
                "does not run as the images' user " + user);
        require(pod.path("fsGroup").equals(pod.path("runAsGroup")), workload, "its volumes are not its group's");
        require(pod.at("/seccompProfile/type").asText().equals("RuntimeDefault"), workload, "no seccomp profile");
        require(!own.path("allowPrivilegeEscalation").asBoolean(true), workload, "allows privileges to be escalated");
        require(
                own.at("/capabilities/drop/0").asText().equals("ALL")
                        && !own.at("/capabilities").has("add"),
                workload,
                "keeps capabilities");
        require(!own.path("privileged").asBoolean(), workload, "is privileged");
        require(own.path("readOnlyRootFilesystem").asBoolean(), workload, "its root file system can be written to");
        require(
                !pod(workload).path("automountServiceAccountToken").asBoolean(true),
                workload,
                "has a token of its account, and asks the API server nothing");
        require(
                !pod(workload).has("hostNetwork") && !pod(workload).has("hostPID"),
                workload,
                "shares something with its node");
        JsonNode resources = container(workload).path("resources");
        require(
                resources.at("/requests/memory").isTextual()
                        && resources.at("/requests/memory").equals(resources.at("/limits/memory")),
                workload,
                "memory is not requested as it is limited");
        require(resources.at("/requests/cpu").isValueNode(), workload, "requests no CPU");
        String image = container(workload).path("image").asText();
        require(image.matches(".*[:@](?!latest$)[^/]+"), workload, "the image " + image + " may change");
    }

    private void probes(ObjectNode workload) {
        for (String probe : PROBES) {
            JsonNode port = container(workload).at('/' + probe + "/httpGet/port");
            require(
                    port.isTextual() && containerPort(workload, port) > 0,
                    workload,
                    probe + " asks no port of the container");
        }
    }

    /** With a root file system that is read-only, what is written lies on a volume. */
    private void folders(ObjectNode workload) {
        Set<String> mounted = stream(container(workload).path("volumeMounts"))
                .filter(mount -> !mount.path("readOnly").asBoolean())
                .map(mount -> mount.path("mountPath").asText())
                .collect(Collectors.toSet());
        require(mounted.contains("/tmp"), workload, "no /tmp to write to");
        all.environment(workload)
                .forEach((variable, value) -> require(
                        !variable.matches(FOLDERS)
                                || mounted.stream()
                                        .anyMatch(place -> value.equals(place) || value.startsWith(place + '/')),
                        workload,
                        variable + " is on no volume"));
    }

    private void variables(ObjectNode workload) {
        all.environment(workload).forEach((variable, value) -> {
            require(
                    !variable.startsWith("MILLRACE_") || keys.contains(variable),
                    workload,
                    "no key " + variable + ", which stops the start");
            require(!value.contains("${"), workload, variable + " would be expanded, and is unset where that fails");
            TRAPS.forEach((part, why) -> require(!variable.contains(part), workload, variable + ": " + why));
        });
        require(
                all.environment(workload).get("QUARKUS_HTTP_HOST") != null,
                workload,
                "listens to itself alone (QUARKUS_HTTP_HOST)");
    }

    /** Each way that a service needs is open: to DNS, to Kafka, to models and webhooks, to each other. */
    private void reachable(ObjectNode workload) {
        require(
                all.of("NetworkPolicy")
                        .filter(policy -> selects(policy.at("/spec/podSelector"), labels(workload)))
                        .anyMatch(policy -> policy.at("/spec/policyTypes").size() == 2
                                && policy.at("/spec/ingress").isMissingNode()
                                && policy.at("/spec/egress").isMissingNode()),
                workload,
                "no policy denies what is not allowed");
        require(
                rules(workload, "egress").anyMatch(rule -> opens(workload, rule, DNS)),
                workload,
                "cannot ask for names");
        Map<String, String> environment = all.environment(workload);
        if (!name(workload).equals("gateway")) {
            require(
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
        require(
                all.of("Kafka")
                        .anyMatch(kafka -> stream(kafka.at("/spec/kafka/listeners"))
                                .anyMatch(listener -> bootstrap.equals(name(kafka) + "-kafka-bootstrap:"
                                                + listener.path("port").asText())
                                        && rules(workload, "egress")
                                                .anyMatch(rule -> opens(
                                                                workload,
                                                                rule,
                                                                listener.path("port")
                                                                        .asInt())
                                                        && stream(rule.path("to"))
                                                                .anyMatch(to -> to.at(
                                                                                "/podSelector/matchLabels/strimzi.io~1cluster")
                                                                        .asText()
                                                                        .equals(name(kafka))))
                                        && stream(listener.path("networkPolicyPeers"))
                                                .anyMatch(
                                                        peer -> selects(peer.path("podSelector"), labels(workload))))),
                workload,
                "cannot reach Kafka at \"" + bootstrap + '"');
        environment.forEach((variable, value) -> {
            if (variable.endsWith("_AGENT_URL")) {
                asks(workload, URI.create(value));
            } else if (variable.equals("OTEL_EXPORTER_OTLP_ENDPOINT")) {
                int port = URI.create(value).getPort();
                require(
                        rules(workload, "egress").anyMatch(rule -> opens(workload, rule, port)),
                        workload,
                        "cannot reach " + value);
            }
        });
    }

    private void asks(ObjectNode client, URI url) {
        ObjectNode service = all.of("Service")
                .filter(candidate -> name(candidate).equals(url.getHost())
                        && candidate.at("/spec/ports/0/port").asInt() == url.getPort())
                .findFirst()
                .orElse(null);
        if (service == null) {
            require(false, client, "there is no " + url);
            return;
        }
        for (ObjectNode server : all.selected(byLabels(service.at("/spec/selector")))) {
            int port = containerPort(server, service.at("/spec/ports/0/targetPort"));
            require(
                    rules(client, "egress")
                                    .anyMatch(rule -> opens(server, rule, port) && names(rule.path("to"), server))
                            && rules(server, "ingress")
                                    .anyMatch(rule -> opens(server, rule, port) && names(rule.path("from"), client)),
                    client,
                    "policies keep it from " + name(server));
            require(
                    allowedHosts(server).contains(url.getHost()),
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

    private Set<String> allowedHosts(ObjectNode workload) {
        return Set.of(all.environment(workload)
                .getOrDefault("MILLRACE_HTTP_ALLOWED_HOSTS", "")
                .split(",", -1));
    }

    private void service(ObjectNode service) {
        List<ObjectNode> behind = all.selected(byLabels(service.at("/spec/selector")));
        require(!behind.isEmpty(), service, "selects no pod");
        for (JsonNode port : service.at("/spec/ports")) {
            require(
                    behind.stream().allMatch(workload -> containerPort(workload, port.path("targetPort")) > 0),
                    service,
                    "no port " + port.path("targetPort").asText());
        }
    }

    private void budget(ObjectNode budget) {
        require(!all.selected(budget.at("/spec/selector")).isEmpty(), budget, "selects no pod");
    }

    /** A policy is for pods that there are, and names ports that they have. */
    private void policy(ObjectNode policy) {
        List<ObjectNode> selected = all.selected(policy.at("/spec/podSelector"));
        require(!selected.isEmpty(), policy, "selects no pod");
        for (JsonNode rule : policy.at("/spec/ingress")) {
            namedPorts(policy, rule, selected);
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
            require(
                    !port.isTextual()
                            || (!servers.isEmpty()
                                    && servers.stream().allMatch(server -> containerPort(server, port) > 0)),
                    policy,
                    "no port " + port.asText());
        }
    }

    private void scaling(ObjectNode scaled) {
        JsonNode target = scaled.at("/spec/scaleTargetRef");
        require(
                all.has(
                        target.path("kind").asText("Deployment"),
                        target.path("name").asText()),
                scaled,
                "scales nothing");
        for (JsonNode trigger : scaled.at("/spec/triggers")) {
            require(
                    !trigger.path("type").asText().equals("kafka"),
                    scaled,
                    "KEDA's trigger for Kafka sees no share group");
        }
        require(scaled.at("/spec/minReplicaCount").asInt() > 0, scaled, "a share group needs a member");
    }

    private void route(ObjectNode route) {
        for (JsonNode rule : route.at("/spec/rules")) {
            for (JsonNode backend : rule.path("backendRefs")) {
                require(
                        all.of("Service")
                                .anyMatch(service -> name(service)
                                                .equals(backend.path("name").asText())
                                        && stream(service.at("/spec/ports"))
                                                .anyMatch(port ->
                                                        port.path("port").equals(backend.path("port")))),
                        route,
                        "no Service " + backend);
            }
            require(
                    rule.at("/timeouts/request").asText().equals("0s"),
                    route,
                    "ends streams of events, which stay open");
        }
        for (JsonNode host : route.at("/spec/hostnames")) {
            require(
                    all.workloads().anyMatch(workload -> allowedHosts(workload).contains(host.asText())),
                    route,
                    "no service answers to " + host.asText());
        }
    }

    private void scrape(ObjectNode monitor) {
        List<ObjectNode> selected = all.selected(monitor.at("/spec/selector"));
        require(!selected.isEmpty(), monitor, "selects no pod");
        for (JsonNode endpoint : monitor.at("/spec/podMetricsEndpoints")) {
            for (ObjectNode workload : selected) {
                int port = containerPort(workload, endpoint.path("port"));
                require(
                        port > 0
                                && rules(workload, "ingress")
                                        .anyMatch(rule -> opens(workload, rule, port)
                                                && stream(rule.path("from"))
                                                        .anyMatch(from -> from.has("namespaceSelector"))),
                        monitor,
                        "no way to " + name(workload));
            }
        }
    }

    /** As many copies as there are brokers at most, also of what the share coordinator keeps. */
    private void brokers(ObjectNode pool) {
        String cluster = pool.at("/metadata/labels/strimzi.io~1cluster").asText();
        require(all.has("Kafka", cluster), pool, "no Kafka " + cluster);
        int replicas = pool.at("/spec/replicas").asInt();
        all.of("Kafka").filter(kafka -> name(kafka).equals(cluster)).forEach(kafka -> {
            JsonNode config = kafka.at("/spec/kafka/config");
            for (String topic :
                    List.of("default", "offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
                require(
                        config.path(topic + ".replication.factor").asInt(3) <= replicas,
                        kafka,
                        "more copies of " + topic + " than brokers");
            }
            for (String minimum :
                    List.of("min.insync", "transaction.state.log.min.isr", "share.coordinator.state.topic.min.isr")) {
                String key = minimum.equals("min.insync") ? "min.insync.replicas" : minimum;
                require(
                        config.path(key).asInt(2) <= Math.max(1, replicas - 1),
                        kafka,
                        key + " leaves no broker to lose");
            }
        });
    }

    private void topic(ObjectNode topic) {
        String cluster = topic.at("/metadata/labels/strimzi.io~1cluster").asText();
        require(all.has("Kafka", cluster), topic, "no Kafka " + cluster);
    }

    /** The number of a port that a container has by this name or number; 0 = it has none. */
    private static int containerPort(ObjectNode workload, JsonNode port) {
        return stream(container(workload).path("ports"))
                .filter(has -> has.path("name").equals(port)
                        || has.path("containerPort").equals(port))
                .mapToInt(has -> has.path("containerPort").asInt())
                .findFirst()
                .orElse(0);
    }

    private static JsonNode byLabels(JsonNode labels) {
        return Manifests.YAML.createObjectNode().set("matchLabels", labels);
    }
}
