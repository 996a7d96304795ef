package dev.millrace.agent.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;

/** What an operator may set for the query side of the agent service. */
@ConfigMapping(prefix = "millrace.agent.projection")
public interface ProjectionConfig {

    /**
     * The folder for the projection of the journal; for this instance alone. It may be deleted between two runs, and is
     * then built again from the journal; of another journal, it is deleted by itself.
     */
    @WithDefault("data/projection")
    Path stateDir();

    /**
     * How long a task can be asked for after its last event, and what model calls have used; zero = for ever. Longer
     * than the journal's own is no use.
     */
    @WithDefault("30d")
    Duration retention();
}
