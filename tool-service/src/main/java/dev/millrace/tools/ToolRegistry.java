package dev.millrace.tools;

import dev.millrace.schemas.Spelling;
import dev.millrace.schemas.ToolDefinition;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The tools of this service, by name: some for good, some of sources that come and go. Safe for any thread. */
public final class ToolRegistry {

    private final Map<String, CallableTool> tools = new TreeMap<>();
    private final List<ToolSource> sources;
    private final ToolPolicies policies;

    /**
     * A registry of these tools and no others.
     *
     * @throws IllegalArgumentException if two have the same name
     */
    public ToolRegistry(Collection<CallableTool> tools) {
        this(tools, List.of());
    }

    /** The same with sources, and nothing said by the operator. */
    public ToolRegistry(Collection<CallableTool> tools, List<ToolSource> sources) {
        this(tools, sources, ToolPolicies.NONE);
    }

    /**
     * A registry of these tools, and of those that the sources have at the time; a tool that is there for good goes
     * before one of a source with the same name.
     *
     * @param policies what the operator says about them
     * @throws IllegalArgumentException if two have the same name
     */
    public ToolRegistry(Collection<CallableTool> tools, List<ToolSource> sources, ToolPolicies policies) {
        this.sources = List.copyOf(sources);
        this.policies = policies;
        for (CallableTool tool : tools) {
            String name = tool.definition().name();
            CallableTool other = this.tools.putIfAbsent(name, tool);
            if (other != null) {
                throw new IllegalArgumentException(
                        "Tool \"" + name + "\" is registered twice, by " + other.origin() + " and by " + tool.origin());
            }
        }
    }

    /** The tool with this name. */
    public Optional<CallableTool> find(String name) {
        CallableTool tool = tools.get(name);
        return tool != null
                ? Optional.of(tool)
                : sources.stream().flatMap(source -> source.find(name).stream()).findFirst();
    }

    /** The tool with this name, waited for if a source may be about to have it. */
    public Optional<CallableTool> await(String name) throws InterruptedException {
        Optional<CallableTool> found = find(name);
        for (ToolSource source : sources) {
            if (found.isEmpty() && source.mayGet(name)) {
                found = source.await(name);
            }
        }
        return found;
    }

    /** Whether a tool of this name may still come, although there is none now. */
    public boolean mayGet(String name) {
        return sources.stream().anyMatch(source -> source.mayGet(name));
    }

    /** What models are told, by name. */
    public List<ToolDefinition> definitions() {
        return all().values().stream()
                .map(CallableTool::definition)
                .map(policies::apply)
                .toList();
    }

    /** Calls this, on any thread, each time that a source's tools have changed. */
    public void onChange(Runnable listener) {
        sources.forEach(source -> source.onChange(listener));
    }

    private Map<String, CallableTool> all() {
        Map<String, CallableTool> all = new TreeMap<>(tools);
        sources.forEach(source ->
                source.tools().forEach(tool -> all.putIfAbsent(tool.definition().name(), tool)));
        return all;
    }

    /** A name that the caller may have meant. */
    Optional<String> similar(String name) {
        return Spelling.nearest(name, all().keySet());
    }
}
