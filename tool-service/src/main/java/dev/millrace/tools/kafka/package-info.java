/** Reading and writing topics that tools keep things on. */
@NullMarked
package dev.millrace.tools.kafka;

import org.jspecify.annotations.NullMarked;
