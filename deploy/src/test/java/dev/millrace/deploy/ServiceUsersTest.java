package dev.millrace.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.utils.SecurityUtils;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What users are allowed stands in manifests and in a document as it stands in {@link ServiceUser}. */
class ServiceUsersTest {

    private static final Path DEPLOY = Path.of("");
    private static final Path OPERATIONS = Path.of("..", "docs", "operations.md");
    private static final String HEAD = "| user | resource | name | operations | for |\n|---|---|---|---|---|\n";
    /** The toolset of the programs of {@code examples/}. */
    private static final String TOOLSET = "words";

    @Test
    @DisplayName("deploy/components/kafka/users.yaml has a user for each service, and worker.yaml that of a worker")
    void shouldListTheUsersAsServicesNeedThem() throws IOException {
        Topics topics = topics();
        assertWritten("users.yaml", "", ServiceUser.all(topics));
        assertWritten(
                "worker.yaml",
                "# No part of the component: the user of a worker of yours, here of the toolset " + TOOLSET + ".\n",
                List.of(ServiceUser.worker(topics, TOOLSET)));
    }

    @Test
    @DisplayName("docs/operations.md has a line for each resource of each user")
    void shouldListTheLinesInTheDocument() throws IOException {
        String document = Files.readString(OPERATIONS);
        int begin = document.indexOf(HEAD);
        assertThat(begin).as("a table of users").isPositive();
        String before = document.substring(0, begin);
        String after = document.substring(document.indexOf("\n\n", begin));
        Topics topics = new Topics(Topics.DEFAULT_PREFIX);
        String expected = before
                + HEAD
                + Stream.concat(ServiceUser.all(topics).stream(), Stream.of(ServiceUser.worker(topics, TOOLSET)))
                        .flatMap(user -> user.lines().stream().map(line -> row(user, line)))
                        .collect(Collectors.joining("\n"))
                + after;
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(OPERATIONS, expected);
        }

        assertThat(Files.readString(OPERATIONS))
                .as("docs/operations.md is stale; write it anew with -Dmillrace.docs.write=true")
                .isEqualTo(expected);
    }

    private static void assertWritten(String name, String note, List<ServiceUser> users) throws IOException {
        Path file = DEPLOY.resolve(Path.of("components", "kafka", name));
        String written = users.stream()
                .map(ServiceUsersTest::manifest)
                .collect(Collectors.joining("---\n", "# Written from the code by ServiceUsersTest.\n" + note, ""));
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(file, written);
        }

        assertThat(Files.exists(file) ? Files.readString(file) : "")
                .as(file + " is stale; write it anew with -Dmillrace.docs.write=true")
                .isEqualTo(written);
    }

    private static Topics topics() throws IOException {
        Properties keys = new Properties();
        try (InputStream file = Files.newInputStream(DEPLOY.resolve(Path.of("base", "common.env")))) {
            keys.load(file);
        }
        return new Topics(keys.getProperty("MILLRACE_TOPICS_PREFIX"));
    }

    private static String manifest(ServiceUser user) {
        return """
                apiVersion: kafka.strimzi.io/v1
                kind: KafkaUser
                metadata:
                  name: %s
                  labels:
                    strimzi.io/cluster: millrace
                spec:
                  authentication:
                    type: scram-sha-512
                  authorization:
                    type: simple
                    acls:
                """.formatted(user.name())
                + user.lines().stream().map(ServiceUsersTest::rule).collect(Collectors.joining());
    }

    private static String rule(ServiceUser.Line line) {
        String type = SecurityUtils.resourceTypeName(line.resource().resourceType());
        StringBuilder text =
                new StringBuilder("      # ").append(line.purpose()).append("\n      - resource:\n");
        text.append("          type: ")
                .append(type.substring(0, 1).toLowerCase(Locale.ROOT))
                .append(type.substring(1))
                .append('\n');
        // of the cluster there is one
        if (line.resource().resourceType() != ResourceType.CLUSTER) {
            text.append("          name: ").append(line.resource().name()).append("\n          patternType: ");
            text.append(begins(line) ? "prefix" : "literal").append('\n');
        }
        return text.append("        operations: [")
                .append(operations(line.operations()))
                .append("]\n")
                .toString();
    }

    private static String row(ServiceUser user, ServiceUser.Line line) {
        return "| `%s` | %s | `%s%s` | %s | %s |"
                .formatted(
                        user.name(),
                        line.resource()
                                .resourceType()
                                .name()
                                .toLowerCase(Locale.ROOT)
                                .replace('_', ' '),
                        line.resource().name(),
                        begins(line) ? "*" : "",
                        operations(line.operations()),
                        line.purpose());
    }

    private static boolean begins(ServiceUser.Line line) {
        return line.resource().patternType() == PatternType.PREFIXED;
    }

    private static String operations(List<AclOperation> operations) {
        return operations.stream().map(SecurityUtils::operationName).collect(Collectors.joining(", "));
    }
}
