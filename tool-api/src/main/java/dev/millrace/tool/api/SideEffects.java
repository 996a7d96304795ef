package dev.millrace.tool.api;

/** What a call of a tool does to the world. */
public enum SideEffects {
    /** Changes nothing. */
    READ_ONLY,
    /**
     * Changes something, and a second call with the same idempotency key, or the same arguments, changes nothing more.
     */
    IDEMPOTENT,
    /** Each call may change or destroy something. */
    DESTRUCTIVE
}
