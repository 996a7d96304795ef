/**
 * The view in which documents are looked for: an index on disk that can be built again from the topic at any time.
 * Lucene stays in this package.
 */
@NullMarked
package dev.millrace.knowledge.index;

import org.jspecify.annotations.NullMarked;
