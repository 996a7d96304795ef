/**
 * Tool results that are too large for an event: kept whole under a reference, given out in pages. {@link
 * dev.millrace.tools.content.LargeResults} cuts, {@link dev.millrace.tools.content.ReadResult} is the tool that reads
 * on, and a {@link dev.millrace.tools.content.ContentStore} keeps, in earnest on the topic {@code content}. A reference
 * is no secret: who may read is asked at each read.
 */
@NullMarked
package dev.millrace.tools.content;

import org.jspecify.annotations.NullMarked;
