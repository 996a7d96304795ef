package dev.millrace.agent;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Who of the participants of a session is given what one of them says. */
public final class Targeting {

    /** What people are called among participants, all of them together. */
    public static final String PEOPLE = "user";

    /** {@code @name}, but not in the middle of a word or an address such as {@code ada@example.org}. */
    private static final Pattern MENTION = Pattern.compile("(?<![\\w@.+-])@([a-z0-9][a-z0-9_-]{0,63})(?![\\w@])");

    private Targeting() {}

    /**
     * Whoever is mentioned, in the order of the first mentions; if no participant is, the other one of two; else
     * nobody.
     *
     * @param speaker who says it: an agent, or {@link #PEOPLE}
     * @param participants names of agents, and {@link #PEOPLE}; empty = nobody is given anything
     * @param allowed which agents the speaker may give the word to
     * @return names of agents, each once; never the speaker
     */
    public static List<String> of(String text, String speaker, List<String> participants, Predicate<String> allowed) {
        Set<String> mentioned = new LinkedHashSet<>(
                MENTION.matcher(text).results().map(match -> match.group(1)).toList());
        mentioned.retainAll(participants);
        mentioned.remove(speaker);
        return (mentioned.isEmpty() ? other(speaker, participants) : List.copyOf(mentioned))
                .stream().filter(name -> !name.equals(PEOPLE)).filter(allowed).toList();
    }

    /** The other party of two; whoever speaks from outside speaks to the first. */
    private static List<String> other(String speaker, List<String> participants) {
        List<String> others =
                participants.stream().filter(name -> !name.equals(speaker)).toList();
        boolean outside = others.size() == participants.size();
        return (outside ? participants.size() <= 2 : others.size() == 1) && !others.isEmpty()
                ? List.of(others.getFirst())
                : List.of();
    }
}
