package dev.millrace.agent;

import dev.millrace.schemas.ToolDefinition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The tools that workers serve at the moment. Safe for any thread; never blocks. */
public interface ToolCatalogue {

    /** The tool with this name, or {@code null} if nobody serves it. */
    @Nullable
    ToolDefinition find(String toolName);

    /** Every tool, by name. */
    List<ToolDefinition> all();
}
