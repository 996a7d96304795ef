/**
 * Who and what texts are about: found by a language model, compared with what is known, merged or kept apart. Begin
 * with {@link dev.millrace.knowledge.entities.EntityExtraction}; {@link dev.millrace.knowledge.entities.EntityGraph}
 * answers what has to do with what.
 */
@NullMarked
package dev.millrace.knowledge.entities;

import org.jspecify.annotations.NullMarked;
