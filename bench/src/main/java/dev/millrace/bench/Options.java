package dev.millrace.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What stands behind the workloads' names: {@code --records 1000 --tasks 20}. */
record Options(Map<String, String> values) {

    private static final String KAFKA = "kafka.";
    private static final String BOTH = "both";

    Options {
        values = Map.copyOf(values);
    }

    /**
     * Reads them.
     *
     * @throws IllegalArgumentException if they are not pairs
     */
    static Options parse(List<String> args) {
        Map<String, String> values = new TreeMap<>();
        for (int i = 0; i < args.size(); i += 2) {
            if (!args.get(i).startsWith("--") || i + 1 == args.size()) {
                throw new IllegalArgumentException("expected --name value, found " + args.get(i));
            }
            values.put(args.get(i).substring(2), args.get(i + 1));
        }
        return new Options(values);
    }

    /**
     * Checks that somebody knows each of them.
     *
     * @throws IllegalArgumentException if not
     */
    void requireKnown(List<Option> known) {
        values.keySet().forEach(name -> {
            if (!name.startsWith(KAFKA)
                    && known.stream().noneMatch(option -> option.name().equals(name))) {
                throw new IllegalArgumentException("expected one of "
                        + known.stream()
                                .map(option -> "--" + option.name())
                                .distinct()
                                .toList() + ", found --" + name);
            }
        });
    }

    String text(Option option) {
        return values.getOrDefault(option.name(), option.otherwise());
    }

    /**
     * A number from 0 on.
     *
     * @throws IllegalArgumentException if it is none
     */
    int number(Option option) {
        try {
            return Integer.parseUnsignedInt(text(option));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("--" + option.name() + ": expected a number, found " + text(option), e);
        }
    }

    /** What stands between spaces; nothing if there is nothing. */
    List<String> words(Option option) {
        return Arrays.stream(text(option).split("\\s+"))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    /**
     * The value that is named, or all of them for {@code both}.
     *
     * @throws IllegalArgumentException if there is none of that name
     */
    <E extends Enum<E>> List<E> choices(Option option, E[] all) {
        String text = text(option);
        if (text.equals(BOTH)) {
            return List.of(all);
        }
        List<String> names = new ArrayList<>();
        for (E one : all) {
            names.add(one.name().toLowerCase(Locale.ROOT));
            if (names.getLast().equals(text)) {
                return List.of(one);
            }
        }
        throw new IllegalArgumentException(
                "--" + option.name() + ": expected one of " + names + " or both, found " + text);
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
