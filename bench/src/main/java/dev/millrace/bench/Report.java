package dev.millrace.bench;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where a workload says what it does and what came of it. */
interface Report {

    /** A line for whoever watches. */
    void progress(String line);

    /** Something that was measured, as JSON; the unit is the last word of each name. */
    void row(Map<String, @Nullable Object> result);
}
