/**
 * From a source to chunks on the topic: fetched, parsed, cut, embedded, written. Begin with
 * {@link dev.millrace.knowledge.ingest.Ingest}.
 */
@NullMarked
package dev.millrace.knowledge.ingest;

import org.jspecify.annotations.NullMarked;
