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

        @Schema(description = "Why no task is admitted; null = one is, or it is not known.") @Nullable
        Drain drain,

        @Schema(
                description = "The processes that answer: this gateway, and the instance of agent-service that it asks."
                        + " Who serves tools is in toolsets.")
        List<Service> services,

        @Schema(description = "In the order of priority.") List<Lane> lanes,

        @Schema(description = "Those that tools belong to now, by name.")
        List<Toolset> toolsets,

        @Schema(description = "The calls of models that the instance which answers makes.") @Nullable
        Models models) {

    public SystemView {
        // what answers may be of a version before there were any
        services = services == null ? List.of() : List.copyOf(services);
        lanes = List.copyOf(lanes);
        toolsets = List.copyOf(toolsets);
    }

    /** The same with these services. */
    public SystemView with(List<Service> others) {
        return new SystemView(version, instance, draining, drain, others, lanes, toolsets, models);
    }

    /** That no task is admitted. */
    @Schema(name = "Drain")
    public record Drain(
            @Schema(description = "For people; null = none was given.") @Nullable
            String reason,

            @Schema(description = "Who asked for it; null = nobody had to log in.") @Nullable
            String by,

            @Schema(description = "When it was asked for, Unix milliseconds.")
            long since) {}

    /** A process. */
    @Schema(name = "ServiceState")
    public record Service(
            @Schema(description = "millrace = all services in one process.", examples = "gateway-service")
            String name,

            @Schema(description = "Host and process; null = not known.") @Nullable
            String instance,

            @Schema(description = "null = not known.") @Nullable
            String version,

            boolean ready,

            @Schema(description = "Why not: what each check that fails says.")
            List<String> reasons,

            @Schema(description = "When it started, Unix milliseconds; null = not known.") @Nullable
            Long since) {

        public Service {
            reasons = List.copyOf(reasons);
        }
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
