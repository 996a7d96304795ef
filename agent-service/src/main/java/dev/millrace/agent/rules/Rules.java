package dev.millrace.agent.rules;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The rules that are in force now: those that are defined while Millrace runs stand above those of files, and these
 * above those that are built in. Safe for any thread; to ask for them never blocks.
 */
public final class Rules {

    private final Bounds bounds;
    private final SortedMap<String, Rule> defined = new TreeMap<>();
    private RuleSet builtIn;
    private List<Rule> ofFiles = List.of();
    private volatile RuleSet current;

    /** Where a rule comes from. */
    public enum Origin {
        /** It comes with Millrace. */
        BUILT_IN,
        /** Of a file of this instance. */
        FILE,
        /** It was defined while Millrace ran, for all instances. */
        DEFINITION
    }

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

    public Rules(RuleSet builtIn, Bounds bounds) {
        this.builtIn = builtIn;
        this.current = builtIn;
        this.bounds = bounds;
    }

    /** Rules of which nothing follows. */
    public static Rules off() {
        return new Rules(RuleSet.NONE, new Bounds(false, 1, 1, false));
    }

    /** Those that are in force. */
    public RuleSet current() {
        return current;
    }

    /** From now on these are beneath all others. */
    public synchronized void use(RuleSet rules) {
        builtIn = rules;
        merge();
    }

    /** From now on these are those of files. */
    public synchronized void useFiles(List<Rule> rules) {
        ofFiles = List.copyOf(rules);
        merge();
    }

    /** From now on this one is defined. */
    public synchronized void define(Rule rule) {
        defined.put(rule.id(), rule);
        merge();
    }

    /** From now on there is no definition of this id. */
    public synchronized void withdraw(String id) {
        defined.remove(id);
        merge();
    }

    /** From now on nothing is defined. */
    public synchronized void withdrawAll() {
        defined.clear();
        merge();
    }

    /** The definitions, by id. */
    public synchronized List<Rule> defined() {
        return List.copyOf(defined.values());
    }

    /** Where the rule of this id, which is in force, comes from. */
    public synchronized Origin origin(String id) {
        return defined.containsKey(id)
                ? Origin.DEFINITION
                : ofFiles.stream().anyMatch(rule -> rule.id().equals(id)) ? Origin.FILE : Origin.BUILT_IN;
    }

    private void merge() {
        current = builtIn.with(ofFiles).with(List.copyOf(defined.values()));
    }

    /** How much may follow from events. */
    public Bounds bounds() {
        return bounds;
    }
}
