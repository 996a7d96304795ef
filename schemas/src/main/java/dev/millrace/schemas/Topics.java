package dev.millrace.schemas;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The catalogue of topics: the only place where their names stand. Lanes lead in, request topics lead out, the
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
     * @param coPartitioned whether it must have the configured partition count, because its keys meet those of other
     *     topics in one topology; if not, any count will do and one is made
     * @param cleanup how old records go
     * @param retention how long they stay, with {@link Cleanup#DELETE}; zero with {@link Cleanup#COMPACT}
     * @param maxMessageBytes the largest batch of records that it takes, in bytes
     * @param writtenBy who produces to it
     * @param readBy who consumes it
     */
    public record Topic(
            String name,
            String purpose,
            String key,
            boolean coPartitioned,
            Cleanup cleanup,
            Duration retention,
            int maxMessageBytes,
            String writtenBy,
            String readBy) {}

    /**
     * Whether the brokers date the records of a topic, and not who writes them: retention then counts from when a
     * record came, whatever its writer says (ADR 0024). Not where only the newest record per key counts, nor where the
     * one writer dates them.
     */
    public boolean datedByBroker(Topic topic) {
        return topic.cleanup() == Cleanup.DELETE && !topic.name().equals(variables());
    }

    /**
     * The largest batch of records that a lane or a request topic takes, in bytes: what Kafka takes by default, 1 MiB.
     */
    public static final int MAX_EVENT_BYTES = 1_048_588;

    /**
     * The same for the journal and the dead letters: twice as much, so that what fitted on a lane still fits with the
     * headers that are added on the way. Producers to these two set {@code max.request.size} to it.
     */
    public static final int MAX_COPY_BYTES = 2 * MAX_EVENT_BYTES;

    /**
     * How long a compacted topic keeps what has been replaced or deleted, as soon as anything more is written to it.
     */
    public static final Duration COMPACTION_LAG = Duration.ofDays(1);

    private static final Duration ONE_HOUR = Duration.ofHours(1);
    private static final Duration ONE_DAY = Duration.ofDays(1);
    private static final Duration ONE_WEEK = Duration.ofDays(7);
    private static final Duration ONE_MONTH = Duration.ofDays(30);
    private static final Duration ONE_YEAR = Duration.ofDays(365);

    /**
     * Longer than any topic that anybody is shown something of is kept by time, with the day that a segment of it takes
     * records.
     */
    public static final Duration FORGOTTEN_RETENTION = Duration.ofDays(40);

    /** How long live text stays if nothing else is configured: long enough for a client to come back to. */
    public static final Duration TOKENS_RETENTION = Duration.ofMinutes(10);

    /** The toolset whose request topic the tool service serves. */
    public static final String BUILT_IN_TOOLSET = "tool";

    /** The toolset of the memory tools, whose calls are keyed by namespace. */
    public static final String MEMORY_TOOLSET = "memory";

    /** The toolset of the tools of knowledge, whose topic has what is to be ingested as well. */
    public static final String KNOWLEDGE_TOOLSET = "knowledge";

    /** The names after {@code requests.} that are taken. */
    public static final Set<String> OWN_TOOLSETS =
            Set.of(BUILT_IN_TOOLSET, MEMORY_TOOLSET, KNOWLEDGE_TOOLSET, "reflection", "webhook");

    /** The lane of a segment. */
    public String lane(Segment segment) {
        return prefix + "events." + segment.laneSuffix();
    }

    /** All lanes, highest priority first. */
    public List<String> lanes() {
        return Arrays.stream(Segment.values()).map(this::lane).toList();
    }

    /** The request topic of a toolset: {@code tool} for the built-in one, any other name for a worker of one's own. */
    public String requests(String toolset) {
        return prefix + "requests." + toolset;
    }

    /** What groups of workers are called by: the prefix with dashes for dots, {@code millrace-}. */
    public String workers() {
        return prefix.replace('.', '-');
    }

    /** The share group of a toolset: {@link #workers}, the toolset, an {@code s}: {@code millrace-tools}. */
    public String shareGroup(String toolset) {
        return workers() + toolset + "s";
    }

    /** The request topic of a toolset that somebody else's workers serve. */
    public Topic toolset(String toolset) {
        return requests(
                requests(toolset),
                "Calls of the tools of " + toolset + ": TOOL_CALL_REQUESTED",
                "call id",
                false,
                "workers of " + toolset);
    }

    /** Calls of the memory tools, and edits by people. */
    public String memoryRequests() {
        return requests(MEMORY_TOOLSET);
    }

    /** What is remembered: compacted documents. */
    public String memory() {
        return prefix + "memory";
    }

    /** Requests for a reflection on an ended task. */
    public String reflectionRequests() {
        return requests("reflection");
    }

    /** Calls of the tools of knowledge, and documents to ingest. */
    public String knowledgeRequests() {
        return requests(KNOWLEDGE_TOOLSET);
    }

    /** What is known from documents: compacted documents and their chunks. */
    public String knowledge() {
        return prefix + "knowledge";
    }

    /** What task owners are to be told at their callback URLs. */
    public String webhookRequests() {
        return requests("webhook");
    }

    /** Every event, in the order in which the task machine took it. */
    public String journal() {
        return prefix + "journal";
    }

    /** Live text ({@link StreamType}); short-lived. */
    public String tokens() {
        return prefix + "tokens";
    }

    /** Agents, tools, rules: compacted configuration. */
    public String definitions() {
        return prefix + "definitions";
    }

    /** Tool results that are too large for an event, in pieces. */
    public String content() {
        return prefix + "content";
    }

    /** Who asked providers for what, so that all instances together keep to a key's limits. */
    public String rates() {
        return prefix + "rates";
    }

    /** Variables that conversations set for themselves. */
    public String variables() {
        return prefix + "variables";
    }

    /** What has been forgotten, for whoever reads topics that still hold it. */
    public String forgotten() {
        return prefix + "forgotten";
    }

    /** What could not be read or processed, with reason and origin headers. */
    public String deadLetters() {
        return prefix + "dead-letters";
    }

    /** Who asked for what over HTTP, where there is a login. */
    public String audit() {
        return prefix + "audit";
    }

    /** Every topic that exists so far, the lanes first. */
    public List<Topic> all() {
        List<Topic> topics = new ArrayList<>();
        for (Segment segment : Segment.values()) {
            topics.add(lane(
                    segment,
                    segment == Segment.BACKGROUND
                            ? "Lane: codes " + segment.firstCode() + " and up"
                            : "Lane: codes " + segment.firstCode() + " to " + (segment.firstCode() + 99)));
        }
        topics.add(requests(
                requests(BUILT_IN_TOOLSET),
                "Calls of the built-in tools: TOOL_CALL_REQUESTED",
                "call id",
                // no topology reads it, and workers of a share group see everything only where there is one partition
                false,
                "tool workers (share group)"));
        topics.add(new Topic(
                memoryRequests(),
                "What is to be done with memory: calls of its tools (TOOL_CALL_REQUESTED), edits by people"
                        + " (MEMORY_EDIT_REQUESTED)",
                "namespace",
                true,
                Cleanup.DELETE,
                ONE_DAY,
                MAX_EVENT_BYTES,
                "agent, gateway",
                "reflection"));
        topics.add(requests(
                reflectionRequests(),
                "Ended tasks worth a reflection (REFLECTION_REQUESTED), and tasks that are forgotten (TASKS_FORGOTTEN)",
                "namespace",
                true,
                "reflection"));
        topics.add(requests(
                webhookRequests(),
                "What owners of tasks are to be told at their callback URLs: NOTIFICATION_REQUESTED",
                "task id",
                false,
                "tool (share group)"));
        topics.add(requests(
                knowledgeRequests(),
                "What is to be done with knowledge: calls of its tools (TOOL_CALL_REQUESTED), documents to ingest"
                        + " (RAG_INGEST)",
                "call id, session key",
                false,
                "knowledge (share group)"));
        topics.add(new Topic(
                journal(),
                "Every event, in the order in which the task machine took it",
                "session key",
                true,
                Cleanup.DELETE,
                ONE_MONTH,
                MAX_COPY_BYTES,
                "agent",
                "gateway, projection, anyone"));
        topics.add(new Topic(
                tokens(),
                "Live text: what models are just saying, `stream.*`",
                "session key",
                true,
                Cleanup.DELETE,
                TOKENS_RETENTION,
                MAX_EVENT_BYTES,
                "agent",
                "gateway, anyone"));
        topics.add(new Topic(
                definitions(),
                "Tools: what a model may call, and who serves it. Agents (docs/agents.md)",
                "kind/id",
                false,
                Cleanup.COMPACT,
                Duration.ZERO,
                MAX_EVENT_BYTES,
                "tool, agent",
                "agent, gateway"));
        topics.add(new Topic(
                memory(),
                "Documents of memory, each as it is now, and the older versions that are kept (docs/memory.md)",
                "namespace/path, namespace/path@version",
                false,
                Cleanup.COMPACT,
                Duration.ZERO,
                MAX_EVENT_BYTES,
                "reflection",
                "agent, gateway, anyone"));
        topics.add(new Topic(
                knowledge(),
                "Documents as knowledge, and their chunks with vectors (docs/knowledge.md)",
                "document/namespace/id, chunk/namespace/id/version/number",
                // one order for all that an index is built from
                false,
                Cleanup.COMPACT,
                Duration.ZERO,
                MAX_EVENT_BYTES,
                "knowledge",
                "knowledge, anyone"));
        topics.add(new Topic(
                content(),
                "Tool results that are too large for an event: the pieces, then a record that names them",
                "call id",
                // read by place, not by key
                false,
                Cleanup.DELETE,
                ONE_MONTH,
                MAX_EVENT_BYTES,
                "tool",
                "tool"));
        topics.add(new Topic(
                rates(),
                "Requests to providers, in the one order that decides who keeps within a key's limits",
                "name of the provider's key",
                // the order of one key is all that counts
                false,
                Cleanup.DELETE,
                ONE_HOUR,
                MAX_EVENT_BYTES,
                "agent",
                "agent"));
        topics.add(new Topic(
                variables(),
                "Variables that conversations set for themselves (set_env), kept for a week, and which of them are forgotten",
                "namespace, kind and id of the conversation",
                // all of it is read by every instance
                false,
                Cleanup.DELETE,
                ONE_WEEK,
                MAX_EVENT_BYTES,
                "tool, agent",
                "tool"));
        topics.add(new Topic(
                forgotten(),
                "Which tasks, sessions and namespaces are forgotten, so that nobody is shown what the topics that are kept"
                        + " by time still hold of them: ids and moments. Which dead letters are discarded: their places",
                "namespace, place",
                // all of it is read by every instance
                false,
                Cleanup.DELETE,
                FORGOTTEN_RETENTION,
                MAX_EVENT_BYTES,
                "agent, gateway",
                "gateway, tool"));
        topics.add(new Topic(
                deadLetters(),
                "What could not be read or processed, with the reason and the origin in headers",
                "the original key",
                false,
                Cleanup.DELETE,
                ONE_MONTH,
                MAX_COPY_BYTES,
                "all",
                "people"));
        topics.add(new Topic(
                audit(),
                "Who asked over HTTP for what, and what was refused, where there is a login: names and ids, no content"
                        + " (docs/security.md)",
                "namespace",
                // read by time
                false,
                Cleanup.DELETE,
                ONE_YEAR,
                MAX_EVENT_BYTES,
                "gateway",
                "people"));
        return List.copyOf(topics);
    }

    private Topic lane(Segment segment, String purpose) {
        return new Topic(
                lane(segment),
                purpose,
                "session key",
                true,
                Cleanup.DELETE,
                ONE_WEEK,
                MAX_EVENT_BYTES,
                "anyone",
                "agent");
    }

    private static Topic requests(String name, String purpose, String key, boolean coPartitioned, String readBy) {
        return new Topic(name, purpose, key, coPartitioned, Cleanup.DELETE, ONE_DAY, MAX_EVENT_BYTES, "agent", readBy);
    }
}
