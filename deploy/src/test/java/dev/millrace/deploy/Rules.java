package dev.millrace.deploy;

import static dev.millrace.deploy.Manifests.container;
import static dev.millrace.deploy.Manifests.containerPort;
import static dev.millrace.deploy.Manifests.labels;
import static dev.millrace.deploy.Manifests.name;
import static dev.millrace.deploy.Manifests.pod;
import static dev.millrace.deploy.Manifests.selects;
import static dev.millrace.deploy.Manifests.stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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

    /** Secrets that README.md has people make, since what is in them stands in no file. */
    static final Set<String> SECRETS_OF_USERS = Set.of("gateway-keys", "internal");

    /** How names of Secrets end that have the certificate of a cluster. */
    private static final String BROKERS = "-cluster-ca-cert";

    private static final List<String> PROBES = List.of("startupProbe", "readinessProbe", "livenessProbe");

    /** The port that has probes and metrics, and nothing else. */
    static final String MANAGEMENT = "management";

    /** Variables whose values are folders that are written to. */
    private static final String FOLDERS = "MILLRACE_.*(_STATE_DIR|_WORKSPACE)";

    /** Kafka's settings that look right and are not. */
    private static final Map<String, String> TRAPS = Map.of(
            "GROUP_INSTANCE_ID", "static membership is fatal with the streams protocol",
            "NUM_STANDBY_REPLICAS", "standbys are a setting of the brokers, and a client's is ignored");

    private final Manifests all;
    private final String user;
    private final Set<String> keys;
    private final Problems problems = new Problems(new ArrayList<>());

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
            rules.login(workload);
        });
        rules.each(rules::service, "Service");
        rules.each(rules::budget, "PodDisruptionBudget");
        rules.each(rules::scaling, "ScaledObject");
        rules.each(rules::autoscaling, "HorizontalPodAutoscaler");
        rules.each(rules::route, "HTTPRoute");
        rules.each(rules::brokers, "KafkaNodePool");
        rules.each(rules::ofCluster, "KafkaTopic");
        rules.each(rules::ofCluster, "KafkaUser");
        new Ways(all, rules.problems).check();
        return rules.problems.found();
    }

    private void each(Consumer<ObjectNode> rule, String kind) {
        all.of(kind).forEach(rule);
    }

    /** Everything that a pod names is there, but for what says that it may be missing. */
    private void references(ObjectNode workload) {
        problems.require(
                selects(workload.at("/spec/selector"), labels(workload)),
                workload,
                "its selector does not match the labels of its pods");
        String account = pod(workload).path("serviceAccountName").asText();
        problems.require(all.has("ServiceAccount", account), workload, "no ServiceAccount " + account);
        if (workload.at("/kind").asText().equals("StatefulSet")) {
            String service = workload.at("/spec/serviceName").asText();
            problems.require(all.has("Service", service), workload, "no Service " + service);
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
            problems.require(volumes.contains(volume), workload, "no volume " + volume);
        }
    }

    private void there(ObjectNode by, String kind, String name, JsonNode reference) {
        problems.require(
                reference.isMissingNode()
                        || reference.path("optional").asBoolean()
                        || all.has(kind, name)
                        || (kind.equals("Secret") && (SECRETS_OF_USERS.contains(name) || isMade(name))),
                by,
                "no " + kind + ' ' + name);
    }

    /** Whether Strimzi makes a Secret: that of a user, or with the certificate of the brokers. */
    private boolean isMade(String secret) {
        return all.has("KafkaUser", secret)
                || (secret.endsWith(BROKERS)
                        && all.has("Kafka", secret.substring(0, secret.length() - BROKERS.length())));
    }

    /** Who connects to the brokers does it as their listener asks, as its own user. */
    private void login(ObjectNode workload) {
        Map<String, String> environment = all.environment(workload);
        String bootstrap = environment.getOrDefault("KAFKA_BOOTSTRAP_SERVERS", "");
        for (JsonNode listener : all.of("Kafka")
                .flatMap(kafka -> stream(kafka.at("/spec/kafka/listeners")))
                .filter(candidate ->
                        bootstrap.endsWith(":" + candidate.path("port").asInt()))
                .toList()) {
            String mechanism = listener.at("/authentication/type").asText();
            String protocol =
                    (mechanism.isEmpty() ? "" : "SASL_") + (listener.path("tls").asBoolean() ? "SSL" : "PLAINTEXT");
            problems.require(
                    protocol.equals(environment.getOrDefault("KAFKA_SECURITY_PROTOCOL", "PLAINTEXT")),
                    workload,
                    "does not speak " + protocol + " to the brokers");
            problems.require(
                    mechanism.toUpperCase(Locale.ROOT).equals(environment.getOrDefault("KAFKA_SASL_MECHANISM", "")),
                    workload,
                    "does not log in by " + mechanism);
        }
        for (JsonNode variable : container(workload).path("env")) {
            JsonNode secret = variable.at("/valueFrom/secretKeyRef");
            there(workload, "Secret", secret.path("name").asText(), secret);
            problems.require(
                    !variable.path("name").asText().equals("KAFKA_SASL_JAAS_CONFIG")
                            || (secret.path("name").asText().equals("millrace-" + name(workload))
                                    && secret.path("key").asText().equals("sasl.jaas.config")),
                    workload,
                    "logs in as somebody else");
        }
        if (environment.containsKey("KAFKA_SASL_MECHANISM")) {
            problems.require(environment.containsKey("KAFKA_SASL_JAAS_CONFIG"), workload, "has no user at the brokers");
            String certificate = environment.getOrDefault("KAFKA_SSL_TRUSTSTORE_LOCATION", "");
            problems.require(
                    stream(container(workload).path("volumeMounts"))
                            .anyMatch(mount -> certificate.startsWith(
                                    mount.path("mountPath").asText() + '/')),
                    workload,
                    "does not have the certificate of the brokers");
        }
    }

    /** Pod Security "restricted" and stricter: the user of the images, nothing to write to but volumes, no token. */
    private void restricted(ObjectNode workload) {
        JsonNode pod = pod(workload).path("securityContext");
        JsonNode own = container(workload).path("securityContext");
        problems.require(pod.path("runAsNonRoot").asBoolean(), workload, "runAsNonRoot is not true");
        problems.require(
                user.equals(pod.path("runAsUser").asText()
                        + ':'
                        + pod.path("runAsGroup").asText()),
                workload,
                "does not run as the images' user " + user);
        problems.require(
                pod.path("fsGroup").equals(pod.path("runAsGroup")), workload, "its volumes are not its group's");
        problems.require(
                pod.at("/seccompProfile/type").asText().equals("RuntimeDefault"), workload, "no seccomp profile");
        problems.require(
                !own.path("allowPrivilegeEscalation").asBoolean(true), workload, "allows privileges to be escalated");
        problems.require(
                own.at("/capabilities/drop/0").asText().equals("ALL")
                        && !own.at("/capabilities").has("add"),
                workload,
                "keeps capabilities");
        problems.require(!own.path("privileged").asBoolean(), workload, "is privileged");
        problems.require(
                own.path("readOnlyRootFilesystem").asBoolean(), workload, "its root file system can be written to");
        problems.require(
                !pod(workload).path("automountServiceAccountToken").asBoolean(true),
                workload,
                "has a token of its account, and asks the API server nothing");
        problems.require(
                !pod(workload).has("hostNetwork") && !pod(workload).has("hostPID"),
                workload,
                "shares something with its node");
        JsonNode resources = container(workload).path("resources");
        problems.require(
                resources.at("/requests/memory").isTextual()
                        && resources.at("/requests/memory").equals(resources.at("/limits/memory")),
                workload,
                "memory is not requested as it is limited");
        problems.require(resources.at("/requests/cpu").isValueNode(), workload, "requests no CPU");
        String image = container(workload).path("image").asText();
        problems.require(image.matches(".*[:@](?!latest$)[^/]+"), workload, "the image " + image + " may change");
    }

    private void probes(ObjectNode workload) {
        for (String probe : PROBES) {
            JsonNode port = container(workload).at('/' + probe + "/httpGet/port");
            problems.require(
                    port.asText().equals(MANAGEMENT) && containerPort(workload, port) > 0,
                    workload,
                    probe + " does not ask the management port");
        }
    }

    /** With a root file system that is read-only, what is written lies on a volume. */
    private void folders(ObjectNode workload) {
        Set<String> mounted = stream(container(workload).path("volumeMounts"))
                .filter(mount -> !mount.path("readOnly").asBoolean())
                .map(mount -> mount.path("mountPath").asText())
                .collect(Collectors.toSet());
        problems.require(mounted.contains("/tmp"), workload, "no /tmp to write to");
        all.environment(workload)
                .forEach((variable, value) -> problems.require(
                        !variable.matches(FOLDERS)
                                || mounted.stream()
                                        .anyMatch(place -> value.equals(place) || value.startsWith(place + '/')),
                        workload,
                        variable + " is on no volume"));
    }

    private void variables(ObjectNode workload) {
        all.environment(workload).forEach((variable, value) -> {
            problems.require(
                    !variable.startsWith("MILLRACE_") || keys.contains(variable),
                    workload,
                    "no key " + variable + ", which stops the start");
            problems.require(
                    !value.contains("${"), workload, variable + " would be expanded, and is unset where that fails");
            TRAPS.forEach((part, why) -> problems.require(!variable.contains(part), workload, variable + ": " + why));
        });
        problems.require(
                all.environment(workload).get("QUARKUS_HTTP_HOST") != null,
                workload,
                "listens to itself alone (QUARKUS_HTTP_HOST)");
    }

    private void service(ObjectNode service) {
        List<ObjectNode> behind = all.selected(Manifests.byLabels(service.at("/spec/selector")));
        problems.require(!behind.isEmpty(), service, "selects no pod");
        for (JsonNode port : service.at("/spec/ports")) {
            problems.require(
                    behind.stream().allMatch(workload -> containerPort(workload, port.path("targetPort")) > 0),
                    service,
                    "no port " + port.path("targetPort").asText());
        }
    }

    private void budget(ObjectNode budget) {
        problems.require(!all.selected(budget.at("/spec/selector")).isEmpty(), budget, "selects no pod");
    }

    private void autoscaling(ObjectNode scaled) {
        scalesSomething(scaled);
        problems.require(
                scaled.at("/spec/minReplicas").asInt(1) > 1, scaled, "one instance cannot be replaced by another");
    }

    /** Its target is there, and leaves the number of its instances to it. */
    private void scalesSomething(ObjectNode scaled) {
        JsonNode target = scaled.at("/spec/scaleTargetRef");
        String kind = target.path("kind").asText("Deployment");
        String name = target.path("name").asText();
        problems.require(all.has(kind, name), scaled, "scales nothing");
        problems.require(
                all.of(kind)
                        .filter(workload -> name(workload).equals(name))
                        .noneMatch(workload -> workload.path("spec").has("replicas")),
                scaled,
                "its target says by itself how many instances it has");
    }

    private void scaling(ObjectNode scaled) {
        scalesSomething(scaled);
        for (JsonNode trigger : scaled.at("/spec/triggers")) {
            problems.require(
                    !trigger.path("type").asText().equals("kafka"),
                    scaled,
                    "KEDA's trigger for Kafka sees no share group");
        }
        problems.require(scaled.at("/spec/minReplicaCount").asInt() > 0, scaled, "a share group needs a member");
    }

    private void route(ObjectNode route) {
        for (JsonNode rule : route.at("/spec/rules")) {
            for (JsonNode backend : rule.path("backendRefs")) {
                problems.require(
                        all.of("Service")
                                .anyMatch(service -> name(service)
                                                .equals(backend.path("name").asText())
                                        && stream(service.at("/spec/ports"))
                                                .anyMatch(port ->
                                                        port.path("port").equals(backend.path("port")))),
                        route,
                        "no Service " + backend);
            }
            problems.require(
                    rule.at("/timeouts/request").asText().equals("0s"),
                    route,
                    "ends streams of events, which stay open");
        }
        for (JsonNode host : route.at("/spec/hostnames")) {
            problems.require(
                    all.workloads()
                            .anyMatch(workload -> all.allowedHosts(workload).contains(host.asText())),
                    route,
                    "no service answers to " + host.asText());
        }
    }

    /** As many copies as there are brokers at most, also of what the share coordinator keeps. */
    private void brokers(ObjectNode pool) {
        String cluster = pool.at("/metadata/labels/strimzi.io~1cluster").asText();
        problems.require(all.has("Kafka", cluster), pool, "no Kafka " + cluster);
        int replicas = pool.at("/spec/replicas").asInt();
        all.of("Kafka").filter(kafka -> name(kafka).equals(cluster)).forEach(kafka -> {
            JsonNode config = kafka.at("/spec/kafka/config");
            for (String topic :
                    List.of("default", "offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
                problems.require(
                        config.path(topic + ".replication.factor").asInt(3) <= replicas,
                        kafka,
                        "more copies of " + topic + " than brokers");
            }
            for (String minimum :
                    List.of("min.insync", "transaction.state.log.min.isr", "share.coordinator.state.topic.min.isr")) {
                String key = minimum.equals("min.insync") ? "min.insync.replicas" : minimum;
                problems.require(
                        config.path(key).asInt(2) <= Math.max(1, replicas - 1),
                        kafka,
                        key + " leaves no broker to lose");
            }
        });
    }

    private void ofCluster(ObjectNode topic) {
        String cluster = topic.at("/metadata/labels/strimzi.io~1cluster").asText();
        problems.require(all.has("Kafka", cluster), topic, "no Kafka " + cluster);
    }
}
