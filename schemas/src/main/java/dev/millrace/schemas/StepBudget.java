package dev.millrace.schemas;

import com.networknt.schema.ExecutionContext;

/** What a check against a schema of somebody else's may cost. For one check, in one thread. */
final class StepBudget {

    /** So many characters of a text, each times the size of a pattern, are one step, like a keyword of a schema. */
    static final int PATTERN_CHARACTERS = 10;

    /** How deep keywords may lie in each other, references followed: far from the end of a thread's stack. */
    private static final int MAX_DEPTH = 600;

    private long left;
    private int depth;

    StepBudget(long steps) {
        this.left = steps;
    }

    void spend(long steps) {
        left -= steps;
        if (left < 0) {
            throw new SpentException();
        }
    }

    /** The same check, which pays one step for each keyword and each name on the way. */
    ExecutionContext of(ExecutionContext check) {
        return new ExecutionContext(check.getExecutionConfig()) {
            @Override
            public void evaluationPathAddLast(String name) {
                enter();
                super.evaluationPathAddLast(name);
            }

            @Override
            public void evaluationPathAddLast(int index) {
                enter();
                super.evaluationPathAddLast(index);
            }

            @Override
            public void evaluationPathRemoveLast() {
                depth--;
                super.evaluationPathRemoveLast();
            }
        };
    }

    private void enter() {
        spend(1);
        depth++;
        if (depth > MAX_DEPTH) {
            throw new SpentException();
        }
    }

    /** It costs more. */
    static final class SpentException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        SpentException() {
            super("", null, false, false);
        }
    }
}
