package dev.millrace.agent.topology;

import dev.millrace.schemas.Topics;
import java.time.Duration;

/**
 * What the shell is told from outside.
 *
 * @param topics the catalogue of topics
 * @param partitions of every lane and of the journal, 1 or more
 * @param seenRetention how long the id of an external event is remembered, more than zero
 * @param endedRetention how long the row and the transcript of an ended task are kept, more than zero
 * @param reflection whether REFLECTION_REQUESTED is sent for completed tasks that are worth it
 * @param admission how many tasks work at the same time
 * @param sessionRetention how long it is known what a session has used and said after it was last used, more than zero
 * @param lanePriority whether higher lanes are read before lower ones; if not, the oldest record goes first
 * @param background of tasks that are delegated
 * @param onRestart what becomes of tasks that were under way
 * @param replies with what calls are signed
 */
public record TaskShellSettings(
        Topics topics,
        int partitions,
        Duration seenRetention,
        Duration endedRetention,
        boolean reflection,
        AdmissionSettings admission,
        Duration sessionRetention,
        boolean lanePriority,
        Background background,
        RestartPolicy onRestart,
        ReplySecrets replies) {

    /** As usual in the background, with nothing signed. */
    public TaskShellSettings(
            Topics topics,
            int partitions,
            Duration seenRetention,
            Duration endedRetention,
            boolean reflection,
            AdmissionSettings admission,
            Duration sessionRetention,
            boolean lanePriority) {
        this(
                topics,
                partitions,
                seenRetention,
                endedRetention,
                reflection,
                admission,
                sessionRetention,
                lanePriority,
                Background.DEFAULT,
                RestartPolicy.RESUME,
                ReplySecrets.none());
    }

    /** The same with these secrets. */
    public TaskShellSettings signedBy(ReplySecrets secrets) {
        return new TaskShellSettings(
                topics,
                partitions,
                seenRetention,
                endedRetention,
                reflection,
                admission,
                sessionRetention,
                lanePriority,
                background,
                onRestart,
                secrets);
    }

    /** The same with another policy. */
    TaskShellSettings onRestart(RestartPolicy policy) {
        return new TaskShellSettings(
                topics,
                partitions,
                seenRetention,
                endedRetention,
                reflection,
                admission,
                sessionRetention,
                lanePriority,
                background,
                policy,
                replies);
    }

    /**
     * Tasks that are delegated into the background.
     *
     * @param timeout how long one may take unless the model says otherwise; more than zero
     * @param progressInterval how often it is told how far one is; zero = never
     */
    public record Background(Duration timeout, Duration progressInterval) {
        /** A quarter of an hour, and every two minutes. */
        public static final Background DEFAULT = new Background(Duration.ofMinutes(15), Duration.ofMinutes(2));

        public Background {
            requirePositive("millrace.agent.background.timeout", timeout);
            if (progressInterval.isNegative()) {
                throw new IllegalArgumentException(
                        "millrace.agent.background.progress-interval: expected zero or more, found "
                                + progressInterval);
            }
        }
    }

    public TaskShellSettings {
        if (partitions < 1) {
            throw new IllegalArgumentException("millrace.topics.partitions: expected 1 or more, found " + partitions);
        }
        requirePositive("millrace.agent.seen-retention", seenRetention);
        requirePositive("millrace.agent.task.ended-retention", endedRetention);
        requirePositive("millrace.agent.session.retention", sessionRetention);
    }

    private static void requirePositive(String key, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(key + ": expected more than zero, found " + value);
        }
    }
}
