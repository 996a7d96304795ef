/**
 * Documents as knowledge: the topic is the truth, the index of each instance a view of it. Begin with
 * {@link dev.millrace.knowledge.ingest.Ingest} and {@link dev.millrace.knowledge.index.Search}.
 */
@NullMarked
package dev.millrace.knowledge;

import org.jspecify.annotations.NullMarked;
