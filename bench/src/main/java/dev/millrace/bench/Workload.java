package dev.millrace.bench;

import java.util.List;

/** Something that is done a lot of times, and what is measured of it. */
interface Workload {

    /** What it is called on the command line. */
    String name();

    /** What it does, in one line. */
    String summary();

    /** What can be said to it. */
    List<Option> options();

    /**
     * Does it, and reports at least one row.
     *
     * @throws Exception if it could not be done; what was reported before holds
     */
    void run(Options options, Report report) throws Exception;
}
