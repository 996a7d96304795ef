package dev.millrace.agent.core;

/** The rule for when a completed task is worth a reflection. */
public final class ReflectionRule {

    private static final int SHORT_RESULT_CHARS = 200;

    private ReflectionRule() {}

    /**
     * False for a task so short that nothing can be learnt from it.
     *
     * @param iterations model calls of the task
     * @param actionsCount steps done
     * @param resultChars length of the final result as JSON text
     */
    public static boolean isWorthwhile(int iterations, int actionsCount, int resultChars) {
        return iterations > 1 || actionsCount > 1 || resultChars >= SHORT_RESULT_CHARS;
    }
}
