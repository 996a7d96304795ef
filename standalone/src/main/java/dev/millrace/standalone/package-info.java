/** One process: broker, all services, command line. */
@NullMarked
package dev.millrace.standalone;

import org.jspecify.annotations.NullMarked;
