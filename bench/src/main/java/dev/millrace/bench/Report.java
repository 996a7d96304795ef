package dev.millrace.bench;

/** Where a workload says what it does and what came of it. */
interface Report {

    /** A line for whoever watches. */
    void progress(String line);

    /** Something that was measured, to be written as JSON; the unit is the last word of each name. */
    void row(Record result);
}
