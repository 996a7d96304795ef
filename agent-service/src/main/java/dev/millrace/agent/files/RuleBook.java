package dev.millrace.agent.files;

import dev.millrace.agent.rules.Rule;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.rules.TypePattern;
import dev.millrace.api.RuleView;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Shows the rules that are in force, and writes definitions: checks them, and puts them where every instance reads
 * them. Safe for any thread; writing waits for the brokers.
 */
public final class RuleBook {

    /** As many rules may be defined. */
    static final int MAX_DEFINED = 1_000;
    /** The longest definition, in characters of JSON. */
    static final int MAX_CHARS = 100_000;

    private final Rules rules;
    private final DefinitionPublisher publisher;

    /** What became of a change. */
    public sealed interface Outcome {}

    /**
     * It is as it was to be.
     *
     * @param view the rule that is in force now; of one that was removed, the definition as it was
     * @param isNew whether there was no definition of it before
     */
    public record Done(RuleView view, boolean isNew) implements Outcome {}

    /** It is no rule that could be had, for this reason. */
    public record Refused(String problem) implements Outcome {}

    /** There is no definition of this id. */
    public record Unknown() implements Outcome {}

    /** The brokers did not take it in time. */
    public record NotStored() implements Outcome {}

    /** Writes for these. */
    public RuleBook(Rules rules, DefinitionPublisher publisher) {
        this.rules = rules;
        this.publisher = publisher;
    }

    /** The rules in the order in which they are asked, but that a narrower pattern goes first. */
    public List<RuleView> all() {
        return rules.current().rules().stream()
                .sorted(Comparator.comparingInt(Rule::priority).reversed())
                .map(rule -> view(rule, rules.origin(rule.id())))
                .toList();
    }

    /** The rule of this id. */
    public Optional<RuleView> find(String id) {
        return rules.current().rules().stream()
                .filter(rule -> rule.id().equals(id))
                .findFirst()
                .map(rule -> view(rule, rules.origin(id)));
    }

    /**
     * Defines a rule, or defines it anew. What says what is defined already changes nothing.
     *
     * @param fields what would stand under the id in a file
     */
    public synchronized Outcome put(String id, JsonObject fields) throws InterruptedException {
        byte[] json = Json.write(fields);
        if (json.length > MAX_CHARS) {
            return new Refused("expected at most " + MAX_CHARS + " bytes of JSON, found " + json.length);
        }
        Rule rule;
        try {
            rule = RuleFile.read(id, fields);
        } catch (InvalidAgentException e) {
            return new Refused(String.valueOf(e.getMessage()));
        }
        Optional<Rule> before = defined(id);
        RuleView view = view(rule, Rules.Origin.DEFINITION);
        if (before.filter(known -> known.version().equals(rule.version())).isPresent()) {
            return new Done(view, false);
        }
        if (before.isEmpty() && rules.defined().size() >= MAX_DEFINED) {
            return new Refused("expected at most " + MAX_DEFINED + " definitions of rules, found so many already");
        }
        if (!publisher.publish(key(id), json)) {
            return new NotStored();
        }
        rules.define(rule);
        return new Done(view, before.isEmpty());
    }

    /** Takes a definition back; what is beneath it is in force again. */
    public synchronized Outcome remove(String id) throws InterruptedException {
        Optional<Rule> before = defined(id);
        if (before.isEmpty()) {
            return new Unknown();
        }
        if (!publisher.publish(key(id), null)) {
            return new NotStored();
        }
        rules.withdraw(id);
        return new Done(view(before.get(), Rules.Origin.DEFINITION), false);
    }

    private Optional<Rule> defined(String id) {
        return rules.defined().stream().filter(rule -> rule.id().equals(id)).findFirst();
    }

    private static String key(String id) {
        return RuleRecords.KIND + '/' + id;
    }

    private static RuleView view(Rule rule, Rules.Origin origin) {
        return new RuleView(
                rule.id(),
                rule.on().stream().map(TypePattern::text).toList(),
                rule.priority(),
                rule.enabled(),
                switch (rule.handler()) {
                    case Rule.Log log -> "log";
                    case Rule.Query query -> "query";
                    case Rule.AgentHandler agent -> "agent";
                    case Rule.CallHandler call -> "call";
                },
                rule.version(),
                origin.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                rule.source().fields());
    }
}
