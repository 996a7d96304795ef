/** HTTP in, HTTP and server-sent events out. */
@NullMarked
package dev.millrace.gateway;

import org.jspecify.annotations.NullMarked;
