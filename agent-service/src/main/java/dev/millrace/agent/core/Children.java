package dev.millrace.agent.core;

import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * The tasks that a task has started and waits for.
 *
 * @param out those that have not ended
 * @param news what background children that have ended came to, which the model is told before its next call
 */
public record Children(List<Child> out, List<String> news) {

    /** None. */
    public static final Children NONE = new Children(List.of(), List.of());

    public Children {
        out = List.copyOf(out);
        news = List.copyOf(news);
    }

    /**
     * A child.
     *
     * @param taskId its id
     * @param callId the tool call that started it, or let it go on
     * @param background whether the call has its result already
     * @param tokens how many of its parent's tokens are set aside for it; {@link TaskLimits#NONE} = there is no limit
     * @param costMicros the same for cost
     */
    public record Child(String taskId, String callId, boolean background, long tokens, long costMicros) {}

    /**
     * The id of the child that a tool call starts, 32 hexadecimal digits: it follows from the call's id, so nobody can
     * know it before the call is made. Two FNV-1a hashes of 64 bits, each mixed, since ids must not meet by chance.
     */
    public static String idOf(String callId) {
        return HexFormat.of().toHexDigits(hash(callId, 0xcbf29ce484222325L))
                + HexFormat.of().toHexDigits(hash(callId, 0x9e3779b97f4a7c15L));
    }

    private static long hash(String text, long start) {
        long hash = start;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
            hash ^= hash >>> 29; // so that the two do not differ by their starts alone
        }
        hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
        return hash ^ (hash >>> 33);
    }

    Children started(Child child) {
        return new Children(Stream.concat(out.stream(), Stream.of(child)).toList(), news);
    }

    /** Without the child of this call; an unknown one changes nothing. */
    Children ended(String callId) {
        return new Children(
                out.stream().filter(child -> !child.callId().equals(callId)).toList(), news);
    }

    Children told(String more) {
        return new Children(out, Stream.concat(news.stream(), Stream.of(more)).toList());
    }

    Children withoutNews() {
        return new Children(out, List.of());
    }

    boolean anyInBackground() {
        return out.stream().anyMatch(Child::background);
    }

    /** Tokens that are set aside for them. */
    long tokens() {
        return out.stream()
                .mapToLong(Child::tokens)
                .filter(each -> each != TaskLimits.NONE)
                .sum();
    }

    /** Cost that is set aside for them. */
    long costMicros() {
        return out.stream()
                .mapToLong(Child::costMicros)
                .filter(each -> each != TaskLimits.NONE)
                .sum();
    }
}
