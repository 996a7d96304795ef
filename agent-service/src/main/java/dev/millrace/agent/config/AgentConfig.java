package dev.millrace.agent.config;

import dev.millrace.agent.topology.AdmissionSettings;
import dev.millrace.agent.topology.RestartPolicy;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** What an operator may set for the agent service. Every value has a default that works in {@code standalone}. */
@ConfigMapping(prefix = "millrace.agent")
public interface AgentConfig {

    /**
     * The folder for the state of the task machine; for this instance alone. If it is lost, it is built again from
     * Kafka.
     */
    @WithDefault("data/agent")
    Path stateDir();

    /**
     * Stream threads, 1 or more; more than partitions are idle. While one commits, which it waits for, others work.
     */
    @WithDefault("1")
    int streamThreads();

    /**
     * How long results are gathered before a commit while there is much to do (where commits are slow for up to ten
     * times as long); while there is little, what somebody waits for is committed at once.
     */
    @WithDefault("20ms")
    Duration commitInterval();

    /** How long the id of an event from outside is remembered, so that a second one with the same id does nothing. */
    @WithDefault("24h")
    Duration seenRetention();

    /** Name of this instance in its events, unique among those that run. Absent = the host's, and some letters. */
    Optional<String> instance();

    /** How often this instance says that it is alive. */
    @WithDefault("60s")
    Duration heartbeatInterval();

    /**
     * How long model calls that run may go on when the service stops, so that their replies are kept; the rest is made
     * again after the next start.
     */
    @WithDefault("8s")
    Duration shutdownGrace();

    /**
     * With what calls are signed, so that nobody answers them but those who were asked (see security.md): 32 characters
     * or more, the same in all instances. Several while it is changed: the first signs, all count. Absent = nothing is
     * signed, and whoever may write to a lane may answer any call.
     */
    Optional<List<String>> replySecret();

    /**
     * Whether a reply that shows no token is refused as well, where there is a secret; a wrong one always is. {@code
     * false} is for the time in which workers learn to show it.
     */
    @WithDefault("true")
    boolean replyTokenRequired();

    /** How lanes are read. */
    Lanes lanes();

    /** The folder of agents as files, {@code <name>/AGENT.md} each. It need not be there. */
    @WithDefault("agents")
    Path agentsDir();

    /** How often that folder is looked at. A change counts when two looks have seen it. More than zero. */
    @WithDefault("1s")
    Duration agentsReload();

    /** What follows from events that are for no task. */
    Rules rules();

    /**
     * The agent that takes tasks whose {@code taskType} names no agent. Absent = such tasks are refused: 422, or a dead
     * letter with {@code unknown_agent}.
     */
    Optional<String> defaultAgent();

    /**
     * How many bytes of UTF-8 of the index of memory the model is shown before the first step of a task. Where that is
     * not enough, {@code facts/user.md} and {@code facts/memory.md} are shown, then what was changed last, and how many
     * more there are. 1 or more.
     */
    @WithDefault("16384")
    int memoryIndexBytes();

    /** Work that is due by the clock. */
    Schedules schedules();

    /** How many tasks work at the same time. */
    Admission admission();

    /** Namespaces and what they may have of it; {@code "*"} = each that is not named itself. */
    Map<String, NamespaceQuota> quotas();

    /** Tools, agents and models for the tasks of some namespaces only, by any names; all others are for all. */
    Map<String, ReservedFor> reserved();

    /** What is for the tasks of these namespaces; something has to be named. */
    interface ReservedFor {

        /** Tools, by name or by how their names begin, such as {@code crm__*}. Absent = none. */
        Optional<List<String>> tools();

        /** The same for agents. Absent = none. */
        Optional<List<String>> agents();

        /** The same for models, and with them for their keys. Absent = none. */
        Optional<List<String>> models();

        /** For whose tasks they are. */
        Set<String> namespaces();
    }

    /** Limits of one task. */
    Task task();

    /** Limits of one session. */
    Session session();

    /** Tasks that an agent delegates into the background. */
    Background background();

    /** Summing up conversations that are about to fill the model's context window. */
    Compaction compaction();

    /** Learning after a task. */
    Reflection reflection();

    /** What models say while they say it. */
    Tokens tokens();

    /** Calls that a person has to agree to. */
    Approval approval();

    /** How lanes are read. */
    interface Lanes {

        /**
         * Whether a higher lane is read before a lower one, at the price of some throughput when there is a backlog; if
         * not, the oldest record goes first.
         */
        @WithDefault("true")
        boolean priority();
    }

    /** How many tasks work at the same time. */
    interface Admission {

        /**
         * Tasks that may work at the same time, per partition; those that wait for somebody do not count. At least 1.
         */
        @WithDefault("5")
        int maxActiveTasks();

        /**
         * What happens to a new task that finds no place free: {@code queue} = it waits its turn, {@code warn} = it is
         * admitted all the same and counted, {@code reject} = it fails with {@code admission_rejected}.
         */
        @WithDefault("queue")
        AdmissionSettings.Policy whenFull();
    }

    /** How many tasks a namespace may have. What is absent is not limited. */
    interface NamespaceQuota {

        /**
         * Tasks of the namespace that may work at the same time, per partition; the others wait. Those that wait for
         * somebody do not count. At least 1.
         */
        Optional<Integer> activeTasks();

        /**
         * Tasks of the namespace that may wait for their turn, per partition; a new one beyond them fails with {@code
         * admission_rejected}, whichever way it came. At least 0.
         */
        Optional<Integer> queuedTasks();
    }

    /** Limits of one task. */
    interface Task {

        /** Model calls before a task fails with {@code iteration_limit}. At least 1. */
        @WithDefault("10")
        int maxIterations();

        /** Tool calls in one reply of the model before a task fails with {@code tool_call_limit}. At least 1. */
        @WithDefault("32")
        int maxToolCallsPerStep();

        /**
         * Characters of messages and results that the model is shown, together, before a task fails with {@code
         * transcript_limit}. At least 1. What has been summed up does not count any more.
         */
        @WithDefault("4000000")
        long maxTranscriptChars();

        /** Input and output tokens together before a task fails with {@code token_limit}. At least 1. */
        @WithDefault("2000000")
        long maxTokens();

        /** Millionths of a US dollar before a task fails with {@code cost_limit}. At least 1. Absent = no limit. */
        OptionalLong maxCostMicros();

        /**
         * Time from the start of a task, or its last resume from completed, before it fails with {@code task_timeout}.
         */
        @WithDefault("7d")
        Duration maxLifeTime();

        /**
         * Tasks that may lead to a task, each starting the next, before it fails with {@code causal_depth_limit}. At
         * least 1.
         */
        @WithDefault("8")
        int maxCausalDepth();

        /**
         * How long a task waits for a model's reply before it fails with {@code timeout}, the wait for a permit
         * included. Longer than {@code millrace.llm.call-timeout}, whose own answer should come first.
         */
        @WithDefault("15m")
        Duration modelCallTimeout();

        /**
         * How long a task waits for a tool's result beyond the tool's own time-out before the model is told {@code
         * tool_timeout}: queues, retries and the takeover of what a dead worker held lie in it.
         */
        @WithDefault("10m")
        Duration toolCallGrace();

        /**
         * What becomes of tasks that were under way when the process ended: {@code resume} lets them go on,
         * {@code fail} ends them with {@code process_restarted}. With several instances a partition that moves to a
         * process for the first time counts as one after a restart.
         */
        @WithDefault("resume")
        RestartPolicy onRestart();

        /**
         * How long an ended task can still be resumed; after that its row and transcript are removed. The journal
         * stays.
         */
        @WithDefault("30d")
        Duration endedRetention();
    }

    /** Tasks that an agent delegates into the background, with {@code delegate_task}. */
    interface Background {

        /** How long one may take unless the model says otherwise. More than zero. */
        @WithDefault("15m")
        Duration timeout();

        /** How often {@code background_task.progress} tells how far one is. Zero = never. */
        @WithDefault("2m")
        Duration progressInterval();
    }

    /** Summing up conversations that are about to fill the model's context window. */
    interface Compaction {

        /**
         * The part of the window, or of {@code task.max-transcript-chars}, that a conversation may fill before its
         * older part is summed up by a model call of its own. More than 0, at most 1 (then only when the provider says
         * that it is too long).
         */
        @WithDefault("0.8")
        double threshold();

        /** The part of the window that the newest turns may fill that are kept word for word. 0 to the threshold. */
        @WithDefault("0.2")
        double kept();
    }

    /** Calls that a person has to agree to. */
    interface Approval {

        /**
         * How long a person has to decide on a tool call, where neither the agent nor the tool says. More than zero.
         */
        @WithDefault("24h")
        Duration defaultExpiry();
    }

    /** Work that is due by the clock. */
    interface Schedules {

        /**
         * The folder of schedules as files, {@code *.yaml} each. It need not be there; it is looked at as often as the
         * one of agents.
         */
        @WithDefault("schedules")
        Path dir();

        /** How many schedules there may be, of all namespaces together. 0 = none. */
        @WithDefault("1000")
        int max();

        /** The shortest time between two moments of one schedule. 1 s or more. */
        @WithDefault("1s")
        Duration shortestInterval();
    }

    /** Limits of one session: all its tasks together. */
    interface Session {

        /**
         * Input and output tokens before a task fails with {@code session_token_limit}. At least 1. Absent = no limit.
         */
        OptionalLong maxTokens();

        /**
         * Millionths of a US dollar before a task fails with {@code session_cost_limit}. At least 1. Absent = no limit.
         */
        OptionalLong maxCostMicros();

        /** How long it is known what a session has used, after it was last used. */
        @WithDefault("30d")
        Duration retention();
    }

    /** What models say while they say it. */
    interface Tokens {

        /**
         * Whether models are asked for their replies piece by piece, and what comes is put on the topic of live text.
         * If not, replies come as a whole, and the time-out for the first piece of one has no effect.
         */
        @WithDefault("true")
        boolean enabled();

        /**
         * How long pieces are gathered before they are sent; the first one of a reply goes at once. Zero = not at all.
         */
        @WithDefault("20ms")
        Duration batch();
    }

    /** Documents that agents are shown passages of. */
    Knowledge knowledge();

    /** Documents that agents are shown passages of. */
    interface Knowledge {

        /** Where the knowledge service answers. It need not be there: then no passages are shown. */
        @WithDefault("http://localhost:8084")
        URI url();

        /** How long it may take; then the task goes on without passages. */
        @WithDefault("5s")
        Duration timeout();
    }

    /** Learning after a task. */
    interface Reflection {

        /** Whether REFLECTION_REQUESTED is sent for completed tasks that are worth it. Reflection-service answers. */
        @WithDefault("true")
        boolean enabled();
    }

    /** What follows from events that are for no task. */
    interface Rules {
        /** Whether anything does. If not, such events are noted in the journal and that is all. */
        @WithDefault("true")
        boolean enabled();

        /**
         * The folder of rules as files, {@code *.yaml} each. It need not be there; it is looked at as often as the one
         * of agents.
         */
        @WithDefault("rules")
        Path dir();

        /** Events of one session that agents are given in a minute; the others are noted. At least 1. */
        @WithDefault("30")
        int perSession();

        /** Events of one rule that agents are given in a minute, per partition; the others are noted. At least 1. */
        @WithDefault("600")
        int perRule();

        /** Whether an event that names no session, or one that is not there, begins one. If not, it is noted. */
        @WithDefault("false")
        boolean newSessions();
    }
}
