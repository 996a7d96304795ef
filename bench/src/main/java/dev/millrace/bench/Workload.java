package dev.millrace.bench;

/**
 * Something that is done a lot of times, and what is measured of it. Its fields with picocli's annotations are what can
 * be said to it on the command line.
 */
interface Workload {

    /** What it is called on the command line. */
    String name();

    /** What it does, in one line. */
    String summary();

    /**
     * Does it, and reports at least one row.
     *
     * @throws Exception if it could not be done; what was reported before holds
     */
    void run(Report report) throws Exception;
}
