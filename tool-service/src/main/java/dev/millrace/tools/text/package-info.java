/** Tools on texts and data alone: they read nothing and change nothing. */
@NullMarked
package dev.millrace.tools.text;

import org.jspecify.annotations.NullMarked;
