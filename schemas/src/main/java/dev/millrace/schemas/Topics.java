package dev.millrace.schemas;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The catalogue of topics (DESIGN §2): the only place where their names stand. Lanes lead in, request topics lead out, the
 * journal is the record.
 *
 * @param prefix put before every name, such as {@code millrace.}; may be empty
 */
public record Topics(String prefix) {

    /** The prefix when nothing else is configured. */
    public static final String DEFAULT_PREFIX = "millrace.";

    /** What Kafka does with old records. */
    public enum Cleanup {
        /** Deleted after the retention. */
        DELETE,
        /** Kept as the newest record per key. */
        COMPACT
    }

    /**
     * One topic.
     *
     * @param name the full name
     * @param purpose what its records are
     * @param key what its record key is
     * @param cleanup how old records go
     * @param retention how long they stay, with {@link Cleanup#DELETE}; zero with {@link Cleanup#COMPACT}
     * @param writtenBy who produces to it
     * @param readBy who consumes it
     */
    public record Topic(
            String name,
            String purpose,
            String key,
            Cleanup cleanup,
            Duration retention,
            String writtenBy,
            String readBy) {}

    private static final Duration ONE_DAY = Duration.ofDays(1);
    private static final Duration ONE_WEEK = Duration.ofDays(7);
    private static final Duration ONE_MONTH = Duration.ofDays(30);

    /** The lane of a segment. */
    public String lane(Segment segment) {
        return prefix + "events." + segment.laneSuffix();
    }

    /** The lanes that move tasks, highest priority first: all but the background one. */
    public List<String> taskLanes() {
        return Arrays.stream(Segment.values())
                .filter(segment -> segment != Segment.BACKGROUND)
                .map(this::lane)
                .toList();
    }

    /** The request topic of a toolset: {@code tool} for the built-in one, any other name for a worker of one's own. */
    public String requests(String toolset) {
        return prefix + "requests." + toolset;
    }

    /** Requests for a reflection on an ended task. */
    public String reflectionRequests() {
        return requests("reflection");
    }

    /** Every event, in the order in which the task machine took it. */
    public String journal() {
        return prefix + "journal";
    }

    /** Live text; short-lived. */
    public String tokens() {
        return prefix + "tokens";
    }

    /** Agents, tools, rules: compacted configuration. */
    public String definitions() {
        return prefix + "definitions";
    }

    /** What could not be read or processed, with reason and origin headers. */
    public String deadLetters() {
        return prefix + "dead-letters";
    }

    /** The toolset whose request topic the tool service serves. */
    public static final String BUILT_IN_TOOLSET = "tool";

    /** Every topic that exists so far. */
    public List<Topic> all() {
        List<Topic> topics = new ArrayList<>();
        for (Segment segment : Segment.values()) {
            String range = segment == Segment.BACKGROUND
                    ? "codes " + segment.firstCode() + " and up"
                    : "codes " + segment.firstCode() + " to " + (segment.firstCode() + 99);
            topics.add(new Topic(
                    lane(segment),
                    "Lane: " + range,
                    "session key",
                    Cleanup.DELETE,
                    ONE_WEEK,
                    "anyone",
                    segment == Segment.BACKGROUND ? "knowledge workers" : "agent"));
        }
        topics.add(new Topic(
                requests(BUILT_IN_TOOLSET),
                "Calls of the built-in tools: TOOL_CALL_REQUESTED",
                "call id",
                Cleanup.DELETE,
                ONE_DAY,
                "agent",
                "tool workers (share group)"));
        topics.add(new Topic(
                reflectionRequests(),
                "Ended tasks worth a reflection: REFLECTION_REQUESTED",
                "namespace",
                Cleanup.DELETE,
                ONE_DAY,
                "agent",
                "reflection workers"));
        topics.add(new Topic(
                journal(),
                "Every event, in the order in which the task machine took it",
                "session key",
                Cleanup.DELETE,
                ONE_MONTH,
                "agent",
                "gateway, projection, anyone"));
        topics.add(new Topic(
                definitions(),
                "Tools: what a model may call, and who serves it",
                "kind/id",
                Cleanup.COMPACT,
                Duration.ZERO,
                "tool",
                "agent, gateway"));
        topics.add(new Topic(
                deadLetters(),
                "What could not be read or processed, with the reason and the origin in headers",
                "the original key",
                Cleanup.DELETE,
                ONE_MONTH,
                "all",
                "people"));
        return List.copyOf(topics);
    }
}
