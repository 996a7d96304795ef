/**
 * What agents have of knowledge: {@code ingest_document} and {@code search_knowledge}, and the events RAG_INGEST.
 */
@NullMarked
package dev.millrace.knowledge.tools;

import org.jspecify.annotations.NullMarked;
