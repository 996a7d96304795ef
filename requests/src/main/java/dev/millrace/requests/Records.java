package dev.millrace.requests;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.MalformedEventException;
import java.time.Instant;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads events from records of request topics. */
final class Records {

    private Records() {}

    static Event event(ConsumerRecord<byte[], byte[]> consumed) throws MalformedEventException {
        return EventCodec.fromRecord(
                consumed.headers(), consumed.value(), Instant.ofEpochMilli(Math.max(0, consumed.timestamp())));
    }
}
