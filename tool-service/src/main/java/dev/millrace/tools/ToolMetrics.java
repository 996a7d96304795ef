package dev.millrace.tools;

import java.time.Duration;

/** What is counted about tool calls. Safe for any thread. */
@FunctionalInterface
public interface ToolMetrics {

    /** A call ended; {@code toolName} is that of a known tool, or {@code unknown}. */
    void called(String toolName, boolean success, Duration duration);

    /** A call is tried again. */
    default void retried(String toolName) {}
}
