package dev.millrace.bench;

import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** Settings of Kafka clients and Kafka Streams to try. */
final class TriedSettings {

    @Option(
            names = "--kafka",
            paramLabel = "NAME=VALUE",
            description = "A setting of Kafka clients and Kafka Streams, such as max.poll.records=50; may come again.")
    private Map<String, String> settings = new TreeMap<>();

    Map<String, String> settings() {
        return settings;
    }
}
