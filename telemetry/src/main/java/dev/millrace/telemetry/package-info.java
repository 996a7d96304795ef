/**
 * Spans and metrics over OTLP. Off unless one of OpenTelemetry's own variables names an endpoint, and then nothing of
 * its SDK is even loaded. Spans are handed over when they are finished, with ids that follow from the events; what
 * becomes of them is the SDK's business, on threads of its own.
 */
@NullMarked
package dev.millrace.telemetry;

import org.jspecify.annotations.NullMarked;
