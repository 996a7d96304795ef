package dev.millrace.bench;

/** An engine that is ready to run the agent loop. */
interface Peer extends AutoCloseable {

    /** Has it work on tasks of a kind. */
    Driver driver(TaskWorkload.Load load);

    /** What its processes have cost until now. */
    Footprint footprint();

    /** Ends its processes and deletes their data. */
    @Override
    void close();
}
