package dev.millrace.agent.topology;

/** What becomes of tasks that were under way when the process ended. */
public enum RestartPolicy {
    /** They go on. */
    RESUME,
    /**
     * They fail with {@code process_restarted}. A partition that comes from another instance counts as one after a
     * restart when this process has it for the first time.
     */
    FAIL
}
