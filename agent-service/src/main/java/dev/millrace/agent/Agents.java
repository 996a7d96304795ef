package dev.millrace.agent;

import dev.millrace.agent.approval.ApprovalPolicy;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The agents that are built in (F-111, F-150 to F-156). Immutable. */
public final class Agents {

    /** The agent of a task that names none, or one that nobody knows (F-156). */
    public static final String DEFAULT = "general";

    private static final Set<String> READ_ONLY = Set.of(
            "current_time",
            "get_env",
            "read_file",
            "list_files",
            "get_file_info",
            "grep_files",
            "http_get",
            "web_search",
            "json_parse",
            "base64_decode",
            "memory_list",
            "memory_read",
            "task_list",
            "task_replay",
            "notify");

    private static final String COMMON = """
            You work inside Millrace, a runtime that records every step you take.
            Use the tools you are given to find out what you do not know; never make up the content of a file, a page or a \
            result. Call several tools at once when they do not depend on each other.
            When a tool fails, read the error and try another way, or say plainly what is missing.
            When only the user can decide something, ask with ask_user instead of guessing.
            Answer in the language of the request, and keep the answer under 2000 characters unless more was asked for.
            """;

    private final Map<String, AgentDefinition> byName;

    private Agents(List<AgentDefinition> agents) {
        byName = agents.stream().collect(Collectors.toUnmodifiableMap(AgentDefinition::name, Function.identity()));
    }

    /** The built-in agents. */
    public static Agents builtIn() {
        return new Agents(List.of(
                new AgentDefinition(
                        DEFAULT,
                        "Does general work with every tool there is.",
                        "You are a capable general agent. You carry out the user's task from start to end.\n" + COMMON,
                        Set.of(AgentDefinition.ALL_TOOLS),
                        null,
                        ApprovalPolicy.NONE),
                new AgentDefinition(
                        "explore",
                        "Researches and reports; can read but change nothing.",
                        "You are a researcher. You look things up and report what you found and where; you change"
                                + " nothing.\n" + COMMON,
                        READ_ONLY,
                        null,
                        ApprovalPolicy.NONE),
                new AgentDefinition(
                        "plan",
                        "Works out a plan; can read, and write down what is worth remembering.",
                        "You are a planner. You study the situation and answer with a plan: numbered steps, each with"
                                + " what is done, why, and how one sees that it is done.\n" + COMMON,
                        union(READ_ONLY, Set.of("memory_write", "memory_append")),
                        null,
                        ApprovalPolicy.NONE)));
    }

    /** The agent with this name; the default one if there is none (F-156). */
    public AgentDefinition of(String name) {
        AgentDefinition found = byName.get(name);
        return found != null ? found : byName.getOrDefault(DEFAULT, first());
    }

    /** All agents, by name. */
    public List<AgentDefinition> all() {
        return byName.values().stream()
                .sorted((a, b) -> a.name().compareTo(b.name()))
                .toList();
    }

    private AgentDefinition first() {
        return byName.values().iterator().next();
    }

    private static Set<String> union(Set<String> some, Set<String> more) {
        return java.util.stream.Stream.concat(some.stream(), more.stream()).collect(Collectors.toUnmodifiableSet());
    }
}
