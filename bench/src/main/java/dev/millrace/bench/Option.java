package dev.millrace.bench;

/**
 * Something that can be said to a workload: {@code --name value}.
 *
 * @param otherwise what holds if nothing is said; empty = nothing
 */
record Option(String name, String otherwise, String summary) {}
