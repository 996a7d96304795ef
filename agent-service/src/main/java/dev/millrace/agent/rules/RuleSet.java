package dev.millrace.agent.rules;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Rules that are in force together. The one that takes an event is the first that matches: by priority, higher first;
 * then the one whose pattern is narrower; then as they are registered. No other one gets it, also if that one is
 * disabled.
 *
 * @param rules as they are registered
 */
public record RuleSet(List<Rule> rules) {

    /** No rules. */
    public static final RuleSet NONE = new RuleSet(List.of());

    public RuleSet {
        rules = List.copyOf(rules);
    }

    private record Candidate(Rule rule, TypePattern.Width width) {}

    /**
     * The rule that takes an event.
     *
     * @param type of the event
     * @param passes whether the event has what a rule's filter wants
     */
    public Optional<Rule> match(String type, Predicate<Rule> passes) {
        List<Candidate> candidates = new ArrayList<>();
        for (Rule rule : rules) {
            rule.on().stream()
                    .filter(pattern -> pattern.matches(type))
                    .map(TypePattern::width)
                    .min(Comparator.naturalOrder())
                    .ifPresent(width -> candidates.add(new Candidate(rule, width)));
        }
        // a stable sort: what is equal stays as it is registered
        return candidates.stream()
                .sorted(Comparator.comparingInt((Candidate one) -> one.rule().priority())
                        .reversed()
                        .thenComparing(Candidate::width))
                .map(Candidate::rule)
                .filter(passes)
                .findFirst();
    }

    /** These rules with others on top: one with the id of another stands in its place, new ones come behind. */
    public RuleSet with(List<Rule> others) {
        Map<String, Rule> byId = new LinkedHashMap<>();
        rules.forEach(rule -> byId.put(rule.id(), rule));
        others.forEach(rule -> byId.put(rule.id(), rule));
        return new RuleSet(List.copyOf(byId.values()));
    }
}
