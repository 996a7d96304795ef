package dev.millrace.agent;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which tools, agents and models are for tasks of certain namespaces only, as the operator has said: for all others
 * they are as if they were not there. What nothing is said of is for all. Immutable.
 */
public final class Reserved {

    /** Everything is for all. */
    public static final Reserved NOTHING = new Reserved(List.of());

    private static final Pattern FORM = Pattern.compile("[^*\\s]+\\*?|\\*");

    private final List<Entry> entries;
    private final Set<String> named;

    /**
     * What is for some only; each list has names, and beginnings of names with {@code *} after them. A name that is in
     * several entries is for the namespaces of all of these.
     *
     * @param tools such as {@code crm__*}
     * @param agents whose tasks no others start
     * @param models that no others may name, nor the agents of their tasks
     * @param namespaces for whose tasks they are; one or more
     */
    public record Entry(List<String> tools, List<String> agents, List<String> models, Set<String> namespaces) {
        public Entry {
            tools = List.copyOf(tools);
            agents = List.copyOf(agents);
            models = List.copyOf(models);
            namespaces = Set.copyOf(namespaces);
            List<String> all =
                    Stream.of(tools, agents, models).flatMap(List::stream).toList();
            if (all.isEmpty() || namespaces.isEmpty()) {
                throw new IllegalArgumentException("expected namespaces, and tools, agents or models for them, found "
                        + namespaces + " and " + all);
            }
            for (String one : all) {
                if (!FORM.matcher(one).matches()) {
                    throw new IllegalArgumentException(
                            "expected a name, or the beginning of one and *, found \"" + one + "\"");
                }
            }
        }
    }

    /** What these entries say together. */
    public Reserved(List<Entry> entries) {
        this.entries = List.copyOf(entries);
        this.named =
                entries.stream().flatMap(entry -> entry.namespaces().stream()).collect(Collectors.toUnmodifiableSet());
    }

    /** Whether tasks of a namespace may have a tool. */
    public boolean isToolOf(String tool, String namespace) {
        return isOf(namespacesOf(Entry::tools, tool), namespace);
    }

    /** Whether an agent may have tasks of a namespace. */
    public boolean isAgentOf(String agent, String namespace) {
        return isOf(namespacesOf(agent), namespace);
    }

    /** Whether a model may be asked for tasks of a namespace. */
    public boolean isModelOf(String model, String namespace) {
        return isOf(namespacesOf(Entry::models, model), namespace);
    }

    /** For whose tasks an agent is, in alphabetical order; empty = for all. */
    Set<String> namespacesOf(String agent) {
        return namespacesOf(Entry::agents, agent);
    }

    /** Equal for namespaces that may have the same. */
    String kindOf(String namespace) {
        return named.contains(namespace) ? namespace : "";
    }

    private Set<String> namespacesOf(Function<Entry, List<String>> kind, String name) {
        return entries.isEmpty()
                ? Set.of()
                : entries.stream()
                        .filter(entry -> kind.apply(entry).stream().anyMatch(pattern -> matches(pattern, name)))
                        .flatMap(entry -> entry.namespaces().stream())
                        .collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isOf(Set<String> namespaces, String namespace) {
        return namespaces.isEmpty() || namespaces.contains(namespace);
    }

    private static boolean matches(String pattern, String name) {
        return pattern.endsWith("*")
                ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                : name.equals(pattern);
    }
}
