package dev.millrace.agent.topology;

import dev.millrace.engine.OutstandingCalls;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.HeaderNames;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * Tells the second of two equal replies: one comes from hand to hand, the other by its lane, in any order. What was
 * taken before a start is told by its call, which is out no more. For one stream thread.
 */
final class TakenReplies {

    /** More than come while the second of two is under way. */
    private static final int REMEMBERED = 16_384;

    private final Set<String> ids = Collections.newSetFromMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > REMEMBERED;
        }
    });

    /** A reply with this event id has been taken. */
    void taken(String id) {
        ids.add(id);
    }

    boolean isTaken(String id) {
        return ids.contains(id);
    }

    /**
     * Whether a record of a lane is one of two, and the other has been taken. To be asked when it is its turn: before,
     * what asks for its call again after an aborted transaction may not have been taken.
     */
    boolean isSecond(Headers headers, OutstandingCalls<?> calls) {
        Header call = headers.lastHeader(HeaderNames.HANDED);
        return isTakenByHand(headers)
                || (call != null
                        && headers.lastHeader(EventCodec.CE_ID) != null
                        && !calls.isOut(new String(call.value(), StandardCharsets.UTF_8)));
    }

    /** The same of those that have been taken since the start: true at any time after that. */
    boolean isTakenByHand(Headers headers) {
        Header id = headers.lastHeader(EventCodec.CE_ID);
        return headers.lastHeader(HeaderNames.HANDED) != null
                && id != null
                && isTaken(new String(id.value(), StandardCharsets.UTF_8));
    }

    /** Whatever was taken has not been kept. */
    void forget() {
        ids.clear();
    }
}
