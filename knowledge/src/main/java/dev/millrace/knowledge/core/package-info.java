/**
 * Documents as sections, sections as chunks. Pure: no framework, no clock, no network. Begin with
 * {@link dev.millrace.knowledge.core.Chunker}.
 */
@NullMarked
package dev.millrace.knowledge.core;

import org.jspecify.annotations.NullMarked;
