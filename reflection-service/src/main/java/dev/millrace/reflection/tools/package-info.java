/** What models are told about the memory tools. */
@NullMarked
package dev.millrace.reflection.tools;

import org.jspecify.annotations.NullMarked;
