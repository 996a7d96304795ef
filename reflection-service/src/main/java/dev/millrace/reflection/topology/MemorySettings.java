package dev.millrace.reflection.topology;

import dev.millrace.reflection.core.Capacity;
import dev.millrace.schemas.Topics;

/**
 * What the shell is told from outside.
 *
 * @param topics the catalogue of topics
 * @param partitions of the request topics, 1 or more
 * @param keptVersions how many older versions of a document are kept, 0 or more
 * @param capacity how much a namespace may remember
 */
public record MemorySettings(Topics topics, int partitions, int keptVersions, Capacity capacity) {

    public MemorySettings {
        if (partitions < 1) {
            throw new IllegalArgumentException("millrace.topics.partitions: expected 1 or more, found " + partitions);
        }
        if (keptVersions < 0) {
            throw new IllegalArgumentException(
                    "millrace.reflection.kept-versions: expected 0 or more, found " + keptVersions);
        }
    }
}
