package dev.millrace.agent.rules;

import java.util.concurrent.atomic.AtomicReference;

/** The rules that are in force now. Safe for any thread; never blocks. */
public final class Rules {

    private final AtomicReference<RuleSet> current;
    private final Bounds bounds;

    /**
     * How much may follow from events.
     *
     * @param enabled whether anything does; if not, events are noted and nothing is said of it
     * @param perSession events of one session that agents are given in a minute, 1 or more
     * @param perRule events of one rule that agents are given in a minute, on one partition, 1 or more
     * @param newSessions whether an event without a session begins one of its own
     */
    public record Bounds(boolean enabled, int perSession, int perRule, boolean newSessions) {
        /** Of the configuration, unless that says otherwise. */
        public static final Bounds DEFAULT = new Bounds(true, 30, 600, false);

        public Bounds {
            if (perSession < 1 || perRule < 1) {
                throw new IllegalArgumentException("millrace.agent.rules.per-session and per-rule: expected 1 or more,"
                        + " found " + perSession + " and " + perRule);
            }
        }
    }

    public Rules(RuleSet rules, Bounds bounds) {
        this.current = new AtomicReference<>(rules);
        this.bounds = bounds;
    }

    /** Rules of which nothing follows. */
    public static Rules off() {
        return new Rules(RuleSet.NONE, new Bounds(false, 1, 1, false));
    }

    /** Those that are in force. */
    public RuleSet current() {
        return current.get();
    }

    /** From now on these are in force. */
    public void use(RuleSet rules) {
        current.set(rules);
    }

    /** How much may follow from events. */
    public Bounds bounds() {
        return bounds;
    }
}
