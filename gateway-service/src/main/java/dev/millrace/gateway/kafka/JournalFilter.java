package dev.millrace.gateway.kafka;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.HeaderNames;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Which records of the journal a listener wants. Asked on the tail's own thread, so it must be quick and never fail.
 */
@FunctionalInterface
public interface JournalFilter {

    /** Whether it wants this one. */
    boolean wants(Labels labels);

    /** Events of one task; also the one that started it, should it not name the task. */
    static JournalFilter task(String namespace, String taskId) {
        return labels -> labels.namespace().equals(namespace)
                && taskId.equals(labels.taskId() != null ? labels.taskId() : labels.id());
    }

    /** Events of these types, of all if there are none. */
    static JournalFilter types(Set<String> types) {
        return labels -> types.isEmpty() || types.contains(labels.type());
    }

    /** Events of which the label says this, all if it is blank or absent. */
    static JournalFilter only(@Nullable String wanted, Function<Labels, @Nullable String> label) {
        return labels -> wanted == null || wanted.isBlank() || wanted.equals(label.apply(labels));
    }

    /** Whether listeners are shown a record at all: not an event in whose place a processor has put others. */
    static boolean isShown(Headers headers) {
        return !HeaderNames.OVERWRITTEN.equals(Labels.text(headers, HeaderNames.OUTCOME));
    }

    /** Only what the other one wants too. */
    default JournalFilter and(JournalFilter other) {
        return labels -> wants(labels) && other.wants(labels);
    }

    /** What either wants. */
    default JournalFilter or(JournalFilter other) {
        return labels -> wants(labels) || other.wants(labels);
    }

    /**
     * What a record's headers tell, so that most records need not be read whole.
     *
     * @param id the event's id; empty = the record is no event
     * @param type the event's type; empty = the record is no event
     * @param taskId {@code null} = none
     * @param sessionId {@code null} = none
     * @param namespace the tenant
     * @param dateMs when it was recorded, in Unix milliseconds
     */
    record Labels(
            String id,
            String type,
            @Nullable String taskId,
            @Nullable String sessionId,
            String namespace,
            long dateMs) {

        static Labels of(Headers headers, long dateMs) {
            return new Labels(
                    text(headers, "ce_id", ""),
                    text(headers, "ce_type", ""),
                    text(headers, "ce_subject"),
                    text(headers, "ce_" + EventCodec.SESSION_ID),
                    text(headers, "ce_" + EventCodec.NAMESPACE, Event.DEFAULT_NAMESPACE),
                    dateMs);
        }

        private static String text(Headers headers, String name, String otherwise) {
            String text = text(headers, name);
            return text == null ? otherwise : text;
        }

        /** The last header of this name; {@code null} = there is none. */
        static @Nullable String text(Headers headers, String name) {
            Header header = headers.lastHeader(name);
            return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.UTF_8);
        }
    }
}
