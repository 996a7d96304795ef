/**
 * Texts as vectors: {@link dev.millrace.knowledge.embed.Embedder}, in this process or of a server. What is similar
 * enough depends on the model, so the model's thresholds are here, too.
 */
@NullMarked
package dev.millrace.knowledge.embed;

import org.jspecify.annotations.NullMarked;
