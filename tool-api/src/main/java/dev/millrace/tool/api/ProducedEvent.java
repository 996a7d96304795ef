package dev.millrace.tool.api;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a processor puts in the place of an event. It is of the same session, as urgent, and caused by that event.
 *
 * @param type one that starts tasks, such as {@code MESSAGE_RECEIVED}, or an open one such as {@code order.refused}
 * @param payload as the type has it, JSON values
 */
public record ProducedEvent(String type, Map<String, ? extends @Nullable Object> payload) {}
