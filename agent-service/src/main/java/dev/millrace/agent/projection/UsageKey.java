package dev.millrace.agent.projection;

/**
 * Whose use of models is added up: that of an agent by one model, within one hour, of a whole namespace or of one task.
 *
 * @param hour when it begins, in Unix milliseconds
 * @param sessionId the task's conversation; empty = it has none, or the row is for a whole namespace
 * @param taskId the task; empty = the row is for a whole namespace
 * @param agent empty = not known
 * @param model empty = not known
 */
record UsageKey(long hour, String namespace, String sessionId, String taskId, String agent, String model) {

    static final long HOUR_MS = 3_600_000;

    /** The hour that this moment is in. */
    static long hourOf(long millis) {
        return millis - Math.floorMod(millis, HOUR_MS);
    }

    /** The hour that begins at this moment or else next. */
    static long hourFrom(long millis) {
        long hour = hourOf(millis);
        return hour == millis ? hour : hour + HOUR_MS;
    }

    /** The same for all tasks of the namespace together. */
    UsageKey ofNamespace() {
        return new UsageKey(hour, namespace, "", "", agent, model);
    }
}
