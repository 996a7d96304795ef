package dev.millrace.agent;

import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Who works on the calls of toolsets. Safe for any thread; never blocks. */
public interface Workers {

    /** Whether nobody works on the calls of a toolset now; empty = somebody does, or it is not known. */
    Optional<Absence> absence(String toolset);

    /**
     * Nobody works on the calls of a toolset.
     *
     * @param since when somebody was last seen to; {@code null} = nobody was since this instance has started
     */
    record Absence(@Nullable Instant since) {

        /** Says so, for people. */
        public String note(String toolset) {
            return since == null
                    ? "no worker serves toolset " + toolset
                    : "toolset " + toolset + " has had no worker since " + since;
        }
    }
}
