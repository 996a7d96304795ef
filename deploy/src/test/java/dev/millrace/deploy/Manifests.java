package dev.millrace.deploy;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Documents as {@code kubectl apply} gets them.
 *
 * @param documents in the order of the file
 */
record Manifests(List<ObjectNode> documents) {

    static final YAMLMapper YAML = YAMLMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    /** What an overlay rendered to, as it is kept beside the tests. */
    static Manifests rendered(String overlay) {
        return read(file(overlay));
    }

    static Path file(String overlay) {
        return Path.of("src", "test", "resources", "rendered", overlay + ".yaml");
    }

    private static Manifests read(Path file) {
        try {
            return parse(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Fails where a key stands twice. */
    static Manifests parse(String yaml) throws IOException {
        try (MappingIterator<ObjectNode> all = YAML.readerFor(ObjectNode.class).readValues(yaml)) {
            return new Manifests(all.readAll());
        }
    }

    /** By kind and name, for a comparison that no order and no style of YAML counts for. */
    Map<String, JsonNode> byId() {
        Map<String, JsonNode> all = new TreeMap<>();
        documents.forEach(document -> all.put(id(document), document));
        return all;
    }

    Manifests copy() {
        return new Manifests(
                new ArrayList<>(documents.stream().map(ObjectNode::deepCopy).toList()));
    }

    Stream<ObjectNode> of(String... kinds) {
        return documents.stream()
                .filter(document ->
                        List.of(kinds).contains(document.path("kind").asText()));
    }

    boolean has(String kind, String name) {
        return of(kind).anyMatch(named(name));
    }

    ObjectNode the(String kind, String name) {
        return of(kind).filter(named(name)).findFirst().orElseThrow();
    }

    /** What runs our images. */
    Stream<ObjectNode> workloads() {
        return of("Deployment", "StatefulSet");
    }

    /** Those whose pods a label selector picks. */
    List<ObjectNode> selected(JsonNode selector) {
        return workloads()
                .filter(workload -> selects(selector, labels(workload)))
                .toList();
    }

    /** The data of the ConfigMaps that this workload gets as environment, those that come later counting more. */
    Map<String, String> environment(JsonNode workload) {
        Map<String, String> all = new TreeMap<>();
        for (JsonNode source : container(workload).path("envFrom")) {
            String name = source.at("/configMapRef/name").asText();
            of("ConfigMap")
                    .filter(named(name))
                    .forEach(map -> map.path("data")
                            .properties()
                            .forEach(entry ->
                                    all.put(entry.getKey(), entry.getValue().asText())));
        }
        container(workload)
                .path("env")
                .forEach(entry ->
                        all.put(entry.path("name").asText(), entry.path("value").asText()));
        return all;
    }

    /** As whom this workload logs in at the brokers: whose Secret it takes that from; fails where it takes none. */
    String user(JsonNode workload) {
        return stream(container(workload).path("env"))
                .filter(variable -> variable.path("name").asText().equals("KAFKA_SASL_JAAS_CONFIG"))
                .map(variable -> variable.at("/valueFrom/secretKeyRef/name").asText())
                .findFirst()
                .orElseThrow();
    }

    /** The names that a service answers to. */
    List<String> allowedHosts(JsonNode workload) {
        return List.of(environment(workload)
                .getOrDefault("MILLRACE_HTTP_ALLOWED_HOSTS", "")
                .split(",", -1));
    }

    static String id(JsonNode document) {
        return document.path("kind").asText() + '/' + name(document);
    }

    static String name(JsonNode document) {
        return document.at("/metadata/name").asText();
    }

    static JsonNode pod(JsonNode workload) {
        return workload.at("/spec/template/spec");
    }

    static JsonNode container(JsonNode workload) {
        return pod(workload).path("containers").path(0);
    }

    static JsonNode labels(JsonNode workload) {
        return workload.at("/spec/template/metadata/labels");
    }

    /** The number of a port that a container has by this name or number; 0 = it has none. */
    static int containerPort(ObjectNode workload, JsonNode port) {
        return stream(container(workload).path("ports"))
                .filter(has -> has.path("name").equals(port)
                        || has.path("containerPort").equals(port))
                .mapToInt(has -> has.path("containerPort").asInt())
                .findFirst()
                .orElse(0);
    }

    /** The selector that picks these labels. */
    static JsonNode byLabels(JsonNode labels) {
        return YAML.createObjectNode().set("matchLabels", labels);
    }

    /** Whether a label selector picks something with these labels. */
    static boolean selects(JsonNode selector, JsonNode labels) {
        return selector.path("matchLabels").properties().stream()
                        .allMatch(entry -> entry.getValue().equals(labels.get(entry.getKey())))
                && stream(selector.path("matchExpressions"))
                        .allMatch(expression -> stream(expression.path("values"))
                                .anyMatch(value -> value.equals(
                                        labels.get(expression.path("key").asText()))));
    }

    static Stream<JsonNode> stream(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false);
    }

    private static Predicate<JsonNode> named(String name) {
        return document -> name(document).equals(name);
    }
}
