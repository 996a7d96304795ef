/**
 * The contract of Millrace: what an event is, which types and topics there are, and how an event looks on the wire.
 * Everything here may be used by every service; nothing here knows a service. Start at {@link
 * dev.millrace.schemas.Event}, then {@link dev.millrace.schemas.EventType} and {@link dev.millrace.schemas.Topics}.
 */
@NullMarked
package dev.millrace.schemas;

import org.jspecify.annotations.NullMarked;
