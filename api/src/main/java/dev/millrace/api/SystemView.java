package dev.millrace.api;

import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The installation as it is now: its lanes, who works, and whether tasks are admitted. */
@Schema(name = "System", description = "The installation as it is now.")
public record SystemView(
        @Schema(description = "Of the instance of agent-service that answers.")
        String version,

        @Schema(description = "The instance of agent-service that answers.")
        String instance,

        @Schema(
                description =
                        "Whether no task is admitted, after POST /v1/system/drain; null = the instance that answers"
                                + " has no part of the lanes, so it does not know.")
        @Nullable
        Boolean draining,

        @Schema(description = "In the order of priority.") List<Lane> lanes,

        @Schema(description = "Those that tools belong to now, by name.")
        List<Toolset> toolsets,

        @Schema(description = "The calls of models that the instance which answers makes.") @Nullable
        Models models) {

    public SystemView {
        lanes = List.copyOf(lanes);
        toolsets = List.copyOf(toolsets);
    }

    /** A lane: the events of some priorities. */
    @Schema(name = "Lane")
    public record Lane(
            @Schema(examples = "millrace.events.external") String topic,

            @Schema(examples = "external") String segment,

            int partitions,

            @Schema(
                    description = "Where the lane ends, over its partitions: the difference of two answers is what came"
                            + " between them.")
            long end,

            @Schema(description = "Records that the task machine has not committed.")
            long backlog,

            @Schema(description = "How long the oldest of those has been there, in milliseconds; null = there is none.")
            @Nullable
            Long oldestMs) {}

    /** Calls of models, of one instance. */
    @Schema(name = "ModelCalls")
    public record Models(
            @Schema(description = "How many may run at once.")
            int permits,

            @Schema(description = "How many of these are in use.")
            int running,

            @Schema(description = "Calls that wait for one, or for their provider.")
            int queued,

            @Schema(description = "Those of them that would wait for their provider if there was one.")
            int heldBack) {}

    /** A toolset, whose calls workers take from a topic. */
    @Schema(name = "ToolsetState")
    public record Toolset(
            String toolset,

            @Schema(description = "Members of groups that take its calls; null = not known yet.") @Nullable
            Long workers,

            @Schema(description = "Calls that nobody has finished; null = not known.") @Nullable
            Long backlog) {}
}
