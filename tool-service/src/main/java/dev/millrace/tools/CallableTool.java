package dev.millrace.tools;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import org.jspecify.annotations.Nullable;

/** Something that a model may call. Safe for any number of threads. */
public interface CallableTool {

    /** What the model is told, and the schema that arguments are checked against before {@link #call}. */
    ToolDefinition definition();

    /**
     * What fails together with this tool, and is left alone together when it fails again and again: the tool itself, or
     * the server behind several. {@code null} = nothing, since each call may go somewhere else.
     */
    default @Nullable String circuit() {
        return definition().name();
    }

    /**
     * Does it. Called on a platform thread of its own, which is interrupted when the time is over; one that goes on all
     * the same keeps its place among the calls of this tool until it ends, see {@link ToolThreads}.
     *
     * @param params JSON values that satisfy the schema
     * @return JSON values
     * @throws ToolException if the tool says no; the model reads the message and may try something else
     * @throws InterruptedException if interrupted
     */
    @Nullable
    Object call(JsonObject params, ToolContext context) throws ToolException, InterruptedException;

    /** Where it comes from, for people who have to tell two of the same name apart. */
    default String origin() {
        return getClass().getName();
    }
}
