package dev.millrace.bench;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Something that is done a lot of times, and what is measured of it. */
interface Workload {

    /** What it is called on the command line. */
    String name();

    /** What it does, in one line. */
    String summary();

    /**
     * Does it.
     *
     * @return what was measured, as JSON; the unit is the last word of each name
     * @throws Exception if it could not be done; then there is no result
     */
    Map<String, @Nullable Object> run(Options options) throws Exception;
}
