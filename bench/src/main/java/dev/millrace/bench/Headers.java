package dev.millrace.bench;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * What the headers of a record say, without the cost of reading the whole event, which a driver would share a core
 * with.
 */
final class Headers {

    private Headers() {}

    /** The text of a header; empty if there is none of that name. */
    static String text(ConsumerRecord<?, ?> entry, String name) {
        Header header = entry.headers().lastHeader(name);
        return header == null ? "" : new String(header.value(), StandardCharsets.UTF_8);
    }
}
