package dev.millrace.gateway.kafka;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Where a stream of facts, with live text or without, stands in partitions of the same number. Every {@code id} of a
 * stream and every cursor that a client holds is one.
 *
 * @param next by partition, what comes next
 */
public record Places(Map<Integer, Place> next) {
    /** A cursor of the journal, the last record seen; or the offsets that come next. */
    private static final Pattern PART = Pattern.compile("(\\d{1,9})(?::(\\d{1,18})|@(\\d{1,18})(?:~(\\d{1,18}))?)");

    private static final long NO_LIVE_TEXT = -1;

    /**
     * One partition of both.
     *
     * @param journal the offset in the journal of the next fact, 0 or more
     * @param tokens the offset in the topic of live text of the next piece, 0 or more; -1 = facts alone
     */
    public record Place(long journal, long tokens) {

        /** A place among facts alone. */
        public Place(long journal) {
            this(journal, NO_LIVE_TEXT);
        }

        /** Whether there is live text too. */
        boolean isLive() {
            return tokens != NO_LIVE_TEXT;
        }
    }

    public Places {
        next = Map.copyOf(next);
    }

    /** In one partition. */
    public static Places of(int partition, long journal, long tokens) {
        return new Places(Map.of(partition, new Place(journal, tokens)));
    }

    /** Among facts alone: the offset of the next one by partition. */
    public static Places ofFacts(Map<Integer, Long> next) {
        return new Places(next.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, place -> new Place(place.getValue()))));
    }

    /** The same with another place in one of the partitions. */
    Places with(int partition, Place place) {
        Map<Integer, Place> changed = new TreeMap<>(next);
        changed.put(partition, place);
        return new Places(changed);
    }

    /** Whether there is a place among live text for each partition. */
    public boolean isLive() {
        return next.values().stream().allMatch(Place::isLive);
    }

    /** The same among facts alone. */
    public Places withoutLiveText() {
        return ofFacts(facts());
    }

    /** By partition, the offset in the journal of the next fact. */
    public Map<Integer, Long> facts() {
        return next.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, place -> place.getValue().journal()));
    }

    /** By partition, the offset of the next piece of live text. */
    Map<Integer, Long> tokens() {
        return next.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, place -> place.getValue().tokens()));
    }

    /** The partition, if it is one alone. */
    public OptionalInt partition() {
        return next.size() == 1 ? OptionalInt.of(next.keySet().iterator().next()) : OptionalInt.empty();
    }

    /** Reads what {@link #toString} wrote, and cursors of the journal; empty if the text is anything else. */
    public static Optional<Places> parse(String text) {
        Map<Integer, Place> places = new TreeMap<>();
        for (String part : text.split(",", -1)) {
            Matcher matcher = PART.matcher(part.strip());
            if (!matcher.matches()) {
                return Optional.empty();
            }
            String seen = matcher.group(2);
            String tokens = matcher.group(4);
            places.put(
                    Integer.valueOf(matcher.group(1)),
                    new Place(
                            seen == null ? Long.parseLong(matcher.group(3)) : Long.parseLong(seen) + 1,
                            tokens == null ? NO_LIVE_TEXT : Long.parseLong(tokens)));
        }
        return Optional.of(new Places(places));
    }

    /** {@code <partition>@<journal>~<tokens>}, separated by commas, in the order of the partitions. */
    @Override
    public String toString() {
        return new TreeMap<>(next)
                .entrySet().stream()
                        .map(part -> part.getKey() + "@" + part.getValue().journal()
                                + (part.getValue().isLive()
                                        ? "~" + part.getValue().tokens()
                                        : ""))
                        .collect(Collectors.joining(","));
    }
}
