package dev.millrace.reflection.topology;

/** Counts reflections. Called on stream threads. */
public interface ReflectionMetrics {

    /** One has come to its end. */
    void completed();

    /** One was given up, since the model did not answer. */
    void failed();
}
