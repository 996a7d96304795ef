package dev.millrace.deploy;

import static org.apache.kafka.common.acl.AclOperation.ALTER_CONFIGS;
import static org.apache.kafka.common.acl.AclOperation.CREATE;
import static org.apache.kafka.common.acl.AclOperation.DESCRIBE;
import static org.apache.kafka.common.acl.AclOperation.DESCRIBE_CONFIGS;
import static org.apache.kafka.common.acl.AclOperation.READ;
import static org.apache.kafka.common.acl.AclOperation.WRITE;
import static org.apache.kafka.common.resource.PatternType.LITERAL;
import static org.apache.kafka.common.resource.PatternType.PREFIXED;

import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import java.util.List;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.Resource;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/**
 * As whom a service logs in at the brokers, and all that it has to be allowed there, with topics that are there already.
 * The only place where that stands. To read or to write allows to describe, and to alter settings allows to describe
 * them.
 *
 * @param name of the user
 * @param lines what it is allowed
 */
record ServiceUser(String name, List<Line> lines) {

    private static final String DEFINITIONS = "what its tools are";
    private static final String RESULTS = "results";
    private static final String UNREADABLE = "what could not be read or processed";
    private static final String EXACTLY_ONCE = "exactly once";

    ServiceUser {
        lines = List.copyOf(lines);
    }

    /**
     * A resource, and what may be done with it.
     *
     * @param resource a name, or what names begin with
     * @param operations in the order of documents
     * @param purpose what it is needed for
     */
    record Line(ResourcePattern resource, List<AclOperation> operations, String purpose) {
        Line {
            operations = List.copyOf(operations);
        }
    }

    /** The users of all services, by what the services are called. */
    static List<ServiceUser> all(Topics topics) {
        return List.of(gateway(topics), agent(topics), tool(topics), reflection(topics), knowledge(topics));
    }

    /** The user of one's own workers that serve this toolset in ordinary consumer groups. */
    static ServiceUser worker(Topics topics, String toolset) {
        return new ServiceUser(
                user(topics, toolset),
                List.of(
                        topic(topics.requests(toolset), "calls", READ),
                        topic(topics.definitions(), DEFINITIONS, WRITE),
                        topic(topics.lane(Segment.TOOL), RESULTS, WRITE),
                        topic(topics.deadLetters(), UNREADABLE, WRITE),
                        begins(ResourceType.GROUP, user(topics, toolset), "its group", READ)));
    }

    private static ServiceUser gateway(Topics topics) {
        return new ServiceUser(
                user(topics, "gateway"),
                List.of(
                        check(topics),
                        lanes(topics, "what clients say", WRITE),
                        topic(topics.memoryRequests(), "what people write into memory", WRITE),
                        topic(topics.journal(), "streams", READ),
                        topic(topics.tokens(), "live text", READ),
                        topic(topics.memory(), "what agents remember", READ),
                        topic(topics.forgotten(), "what is not to be shown any more", READ, WRITE),
                        topic(topics.deadLetters(), "`GET /v1/dead-letters`", READ),
                        topic(topics.audit(), "who asked for what, where there is a login", WRITE),
                        brokers("how long things are kept, of topics that do not say it themselves")));
    }

    private static ServiceUser agent(Topics topics) {
        String machine = topics.prefix() + "agent";
        return new ServiceUser(
                user(topics, "agent"),
                List.of(
                        check(topics),
                        lanes(topics, "all that it decides on", READ, WRITE),
                        begins(ResourceType.TOPIC, topics.requests(""), "what it asks for", WRITE),
                        topic(topics.journal(), "all that has happened", READ, WRITE),
                        topic(topics.definitions(), "tools, and agents of files", READ, WRITE),
                        topic(topics.memory(), "what agents remember", READ),
                        topic(topics.tokens(), "live text", WRITE),
                        topic(topics.rates(), "limits of providers, if any are set", READ, WRITE),
                        topic(topics.variables(), "which of them are forgotten", WRITE),
                        topic(topics.forgotten(), "what is not to be shown any more", WRITE),
                        topic(topics.deadLetters(), UNREADABLE, WRITE),
                        begins(
                                ResourceType.TOPIC,
                                machine + '-',
                                "its changelogs, which the brokers make",
                                READ,
                                WRITE,
                                CREATE),
                        group(machine, "the machine", READ),
                        group(topics.prefix() + "telemetry", "spans, if there are any", READ),
                        begins(ResourceType.GROUP, topics.prefix(), "whether anybody takes what it asks for", DESCRIBE),
                        begins(
                                ResourceType.GROUP,
                                topics.workers(),
                                "the same of workers, whose groups have to begin so",
                                DESCRIBE),
                        begins(ResourceType.TRANSACTIONAL_ID, machine + '-', EXACTLY_ONCE, WRITE)));
    }

    private static ServiceUser tool(Topics topics) {
        return new ServiceUser(
                user(topics, "tool"),
                List.of(
                        check(topics),
                        topic(topics.requests(Topics.BUILT_IN_TOOLSET), "calls", READ),
                        topic(topics.webhookRequests(), "what owners of tasks are told", READ),
                        topic(topics.forgotten(), "what is not to be shown any more", READ),
                        topic(topics.definitions(), DEFINITIONS, READ, WRITE),
                        topic(topics.content(), "large results", READ, WRITE),
                        topic(topics.variables(), "what `set_env` sets", READ, WRITE),
                        topic(topics.lane(Segment.TOOL), RESULTS, WRITE),
                        topic(topics.deadLetters(), "what could not be read or delivered", WRITE),
                        shared(topics, Topics.BUILT_IN_TOOLSET),
                        shared(topics, "webhook"),
                        brokers("how long a broker lets a worker keep a request")));
    }

    private static ServiceUser reflection(Topics topics) {
        String machine = topics.prefix() + "reflection";
        return new ServiceUser(
                user(topics, "reflection"),
                List.of(
                        check(topics),
                        topic(topics.memoryRequests(), "what is to be done with memory", READ),
                        topic(
                                topics.reflectionRequests(),
                                "ended tasks, and the replies of its own model calls",
                                READ,
                                WRITE),
                        topic(topics.memory(), "documents", WRITE),
                        topic(topics.definitions(), "what the tools for memory are", READ, WRITE),
                        topic(topics.lane(Segment.COGNITIVE), "what became of reflections", WRITE),
                        topic(topics.lane(Segment.TOOL), RESULTS, WRITE),
                        topic(topics.deadLetters(), UNREADABLE, WRITE),
                        begins(
                                ResourceType.TOPIC,
                                machine + '-',
                                "its changelogs, which the brokers make",
                                READ,
                                WRITE,
                                CREATE),
                        group(machine, "the machine", READ),
                        begins(ResourceType.TRANSACTIONAL_ID, machine + '-', EXACTLY_ONCE, WRITE)));
    }

    private static ServiceUser knowledge(Topics topics) {
        String own = topics.prefix() + "knowledge-";
        return new ServiceUser(
                user(topics, "knowledge"),
                List.of(
                        check(topics),
                        topic(topics.knowledgeRequests(), "documents to take in, and calls of its tools", READ),
                        topic(topics.knowledge(), "documents and chunks", READ, WRITE),
                        topic(topics.memory(), "what is remembered, to be searched", READ),
                        group(own + "memory", "how far it has read there", READ),
                        topic(topics.forgotten(), "what is to be taken away", READ),
                        topic(topics.definitions(), DEFINITIONS, READ, WRITE),
                        topic(topics.lane(Segment.TOOL), RESULTS, WRITE),
                        topic(topics.lane(Segment.BACKGROUND), "documents that tools ask for", WRITE),
                        topic(topics.deadLetters(), "what could not be read or taken in", WRITE),
                        shared(topics, Topics.KNOWLEDGE_TOOLSET),
                        begins(ResourceType.TRANSACTIONAL_ID, own, "a document as a whole or not at all", WRITE),
                        brokers("how long a broker lets a worker keep a request")));
    }

    private static String user(Topics topics, String service) {
        return topics.workers() + service;
    }

    /** At its start each service looks at every topic. */
    private static Line check(Topics topics) {
        return begins(ResourceType.TOPIC, topics.prefix(), "the check of the topics", DESCRIBE, DESCRIBE_CONFIGS);
    }

    private static Line lanes(Topics topics, String purpose, AclOperation... operations) {
        return begins(ResourceType.TOPIC, topics.prefix() + "events.", purpose, operations);
    }

    /** To set a group up is to look at how it is. */
    private static Line shared(Topics topics, String toolset) {
        return group(topics.shareGroup(toolset), "the share group, and how it is set up", READ, ALTER_CONFIGS);
    }

    private static Line topic(String name, String purpose, AclOperation... operations) {
        return line(ResourceType.TOPIC, name, LITERAL, purpose, operations);
    }

    private static Line group(String name, String purpose, AclOperation... operations) {
        return line(ResourceType.GROUP, name, LITERAL, purpose, operations);
    }

    private static Line brokers(String purpose) {
        return line(ResourceType.CLUSTER, Resource.CLUSTER_NAME, LITERAL, purpose, DESCRIBE_CONFIGS);
    }

    private static Line begins(ResourceType type, String name, String purpose, AclOperation... operations) {
        return line(type, name, PREFIXED, purpose, operations);
    }

    private static Line line(
            ResourceType type, String name, PatternType pattern, String purpose, AclOperation... operations) {
        return new Line(new ResourcePattern(type, name, pattern), List.of(operations), purpose);
    }
}
