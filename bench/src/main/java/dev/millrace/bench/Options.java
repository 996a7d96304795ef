package dev.millrace.bench;

import java.util.Map;
import java.util.TreeMap;

/** What stands behind the workload's name: {@code --records 1000 --tasks 20}. */
record Options(Map<String, String> values) {

    private static final String KAFKA = "kafka.";

    Options {
        values = Map.copyOf(values);
    }

    static Options parse(String... args) {
        Map<String, String> values = new TreeMap<>();
        for (int i = 0; i < args.length; i += 2) {
            if (!args[i].startsWith("--") || i + 1 == args.length) {
                throw new IllegalArgumentException("expected --name value, found " + args[i]);
            }
            values.put(args[i].substring(2), args[i + 1]);
        }
        return new Options(values);
    }

    int number(String name, int otherwise) {
        String value = values.get(name);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    /** Settings of Kafka clients and Kafka Streams to try: {@code --kafka.max.poll.records 50}. */
    Map<String, Object> kafka() {
        Map<String, Object> settings = new TreeMap<>();
        values.forEach((name, value) -> {
            if (name.startsWith(KAFKA)) {
                settings.put(name.substring(KAFKA.length()), value);
            }
        });
        return settings;
    }
}
