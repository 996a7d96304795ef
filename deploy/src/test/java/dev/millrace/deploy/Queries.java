package dev.millrace.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Which metrics the alerts, the dashboards and the scaling ask for. */
final class Queries {

    private static final Pattern LABELS =
            Pattern.compile("\\{[^}]*}|\\[[^]]*]|\"[^\"]*\"|\\b(by|without|on|ignoring)\\s*\\([^)]*\\)");
    private static final Pattern NAME = Pattern.compile("\\b[a-zA-Z_:][a-zA-Z0-9_:]*\\b(?!\\s*\\()");
    private static final Set<String> WORDS = Set.of("and", "or", "unless", "bool", "offset");

    /** Of Prometheus itself, of kube-state-metrics and of kubelets. */
    private static final Pattern OF_OTHERS = Pattern.compile("up|kube_.*|kubelet_.*");

    private Queries() {}

    /** The names of our own metrics in these manifests. */
    static Set<String> metrics(Manifests all) throws IOException {
        Set<String> names = new TreeSet<>();
        all.of("PrometheusRule")
                .flatMap(rule -> rule.findValues("expr").stream())
                .forEach(query -> names.addAll(metrics(query.asText())));
        all.of("ScaledObject")
                .flatMap(scaled -> scaled.findValues("query").stream())
                .forEach(query -> names.addAll(metrics(query.asText())));
        for (JsonNode map : all.of("ConfigMap").toList()) {
            for (JsonNode value : map.path("data")) {
                if (value.asText().startsWith("{")) {
                    dashboard(Manifests.YAML.readTree(value.asText())).forEach(query -> names.addAll(metrics(query)));
                }
            }
        }
        names.removeIf(name -> OF_OTHERS.matcher(name).matches());
        return names;
    }

    private static Stream<String> dashboard(JsonNode dashboard) {
        return dashboard.findValues("expr").stream().map(JsonNode::asText);
    }

    private static Set<String> metrics(String query) {
        Set<String> names = new TreeSet<>();
        Matcher found = NAME.matcher(LABELS.matcher(query).replaceAll(" "));
        while (found.find()) {
            if (!WORDS.contains(found.group())) {
                names.add(found.group());
            }
        }
        return names;
    }
}
