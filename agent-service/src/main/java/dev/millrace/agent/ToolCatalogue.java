package dev.millrace.agent;

import dev.millrace.schemas.ToolDefinition;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The tools that workers serve at the moment. Safe for any thread; never blocks. */
public interface ToolCatalogue {

    /** The tool with this name, or {@code null} if nobody serves it. */
    @Nullable
    ToolDefinition find(String toolName);

    /** Every tool and every processor, by name. */
    List<ToolDefinition> all();

    /**
     * Every processor, also one whose toolset has no request topic, in the order in which they are asked: those for
     * all types, then the others, each by order and name.
     */
    default List<ToolDefinition> processors() {
        return inOrder(all().stream());
    }

    /** The processors among these, in the order in which they are asked. */
    static List<ToolDefinition> inOrder(Stream<ToolDefinition> tools) {
        return tools.<Map.Entry<ToolDefinition.Processes, ToolDefinition>>mapMulti((tool, keep) -> {
                    ToolDefinition.Processes processes = tool.processes();
                    if (processes != null) {
                        keep.accept(Map.entry(processes, tool));
                    }
                })
                .sorted(Comparator.<Map.Entry<ToolDefinition.Processes, ToolDefinition>>comparingInt(
                                one -> one.getKey().ofAny() ? 0 : 1)
                        .thenComparingInt(one -> one.getKey().order())
                        .thenComparing(one -> one.getValue().name()))
                .map(Map.Entry::getValue)
                .toList();
    }
}
