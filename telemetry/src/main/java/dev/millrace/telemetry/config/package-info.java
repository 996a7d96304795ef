/** Telemetry as a bean of whatever service has it on its class path: one for all services of a process. */
@NullMarked
package dev.millrace.telemetry.config;

import org.jspecify.annotations.NullMarked;
