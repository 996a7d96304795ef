package dev.millrace.gateway.kafka;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Where a stream of facts and live text stands in partitions of the same number: what the {@code id} of such a stream says.
 *
 * @param next by partition, what comes next
 */
public record Places(Map<Integer, Place> next) {
    private static final Pattern PART = Pattern.compile("(\\d{1,9})@(\\d{1,18})~(\\d{1,18})");

    /**
     * One partition of both.
     *
     * @param journal the offset in the journal of the next fact, 0 or more
     * @param tokens the offset in the topic of live text of the next piece, 0 or more
     */
    public record Place(long journal, long tokens) {}

    public Places {
        next = Map.copyOf(next);
    }

    /** In one partition. */
    public static Places of(int partition, long journal, long tokens) {
        return new Places(Map.of(partition, new Place(journal, tokens)));
    }

    /** The same with another place in one of the partitions. */
    Places with(int partition, Place place) {
        Map<Integer, Place> changed = new TreeMap<>(next);
        changed.put(partition, place);
        return new Places(changed);
    }

    /** Reads what {@link #toString} wrote; empty if the text is anything else. */
    public static Optional<Places> parse(String text) {
        Map<Integer, Place> places = new TreeMap<>();
        for (String part : text.split(",", -1)) {
            Matcher matcher = PART.matcher(part.strip());
            if (!matcher.matches()) {
                return Optional.empty();
            }
            places.put(
                    Integer.valueOf(matcher.group(1)),
                    new Place(Long.parseLong(matcher.group(2)), Long.parseLong(matcher.group(3))));
        }
        return Optional.of(new Places(places));
    }

    /** {@code <partition>@<journal>~<tokens>}, separated by commas, in the order of the partitions. */
    @Override
    public String toString() {
        return new TreeMap<>(next)
                .entrySet().stream()
                        .map(part -> part.getKey() + "@" + part.getValue().journal() + "~"
                                + part.getValue().tokens())
                        .collect(Collectors.joining(","));
    }
}
