package dev.millrace.agent.rest;

import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.kafka.InstanceEvents;
import dev.millrace.agent.kafka.LaneStates;
import dev.millrace.agent.kafka.ToolsetWatch;
import dev.millrace.agent.topology.Occupancy;
import dev.millrace.api.SystemView;
import dev.millrace.schemas.ToolDefinition;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The installation as this instance sees it. For any thread. */
public final class SystemReport {

    private final Itself itself;
    private final Occupancy occupancy;
    private final LaneStates lanes;
    private final ToolCatalogue tools;
    private final ToolsetWatch toolsets;

    /**
     * This instance.
     *
     * @param settings its name and version
     * @param process how it is
     * @param models the calls that it makes
     */
    public record Itself(
            InstanceEvents.Settings settings,
            Supplier<SystemView.Service> process,
            Supplier<SystemView.Models> models) {}

    /**
     * What tools there are, and who works on their calls.
     *
     * @param tools that there are
     * @param watch over who works
     */
    public record Served(ToolCatalogue tools, ToolsetWatch watch) {}

    /** Asks these each time. */
    public SystemReport(Itself itself, Occupancy occupancy, LaneStates lanes, Served served) {
        this.itself = itself;
        this.occupancy = occupancy;
        this.lanes = lanes;
        this.tools = served.tools();
        this.toolsets = served.watch();
    }

    /**
     * As it is now.
     *
     * @throws IOException if the brokers do not answer
     */
    SystemView view() throws IOException, InterruptedException {
        List<SystemView.Toolset> served = tools.all().stream()
                .map(ToolDefinition::toolset)
                .distinct()
                .sorted()
                .map(toolset -> new SystemView.Toolset(
                        toolset, known(toolsets.workers(toolset)), known(toolsets.backlog(toolset))))
                .toList();
        return new SystemView(
                itself.settings().version(),
                itself.settings().instance(),
                occupancy.draining().orElse(null),
                occupancy
                        .drain()
                        .map(drain -> new SystemView.Drain(drain.reason(), drain.by(), drain.sinceMs()))
                        .orElse(null),
                List.of(itself.process().get()),
                lanes.look(),
                served,
                itself.models().get());
    }

    private static @Nullable Long known(OptionalLong number) {
        return number.isPresent() ? (Long) number.getAsLong() : null;
    }
}
