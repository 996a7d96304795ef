package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class JournalProcessorTest {

    private static final String STORE = "rows";
    private static final String CALL = "m1/1/0";

    @Test
    @DisplayName("whoever reads between any two writes finds a call that waits for its decision, or the decision")
    void shouldNeverShowACallThatNeitherWaitsNorWasDecided() {
        // given
        List<String> seen = new ArrayList<>();
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        KeyValueStore<Bytes, byte[]> rows = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(STORE), Serdes.Bytes(), Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        rows.init(context.getStateStoreContext(), rows);
        context.addStateStore(watched(
                rows,
                () -> new ProjectionReader(rows)
                        .approval(Event.DEFAULT_NAMESPACE, CALL)
                        .ifPresent(found ->
                                seen.add(found.open() ? "open" : found.decided() == null ? "lost" : "decided"))));
        JournalProcessor processor = new JournalProcessor(STORE, new AppliedOffsets(), Duration.ofDays(30));
        processor.init(context);
        List<Event> history = Histories.startedBy("m1")
                .created()
                .moved("reasoning", "suspended")
                .then(KnownEventType.APPROVAL_REQUESTED, Map.of("callId", CALL, "toolName", "http_get"))
                .then(KnownEventType.APPROVAL_DECIDED, Map.of("callId", CALL, "decision", "approve"))
                .events();

        // when
        for (int offset = 0; offset < history.size(); offset++) {
            context.setRecordMetadata("journal", 0, offset);
            context.setCurrentSystemTimeMs(history.get(offset).timestamp().toEpochMilli());
            processor.process(record(history.get(offset)));
        }

        // then
        assertThat(seen).startsWith("open").endsWith("decided").doesNotContain("lost");
    }

    private static Record<byte[], byte[]> record(Event event) {
        ProducerRecord<String, byte[]> produced = EventCodec.toRecord("journal", event);
        return new Record<>(
                produced.key().getBytes(StandardCharsets.UTF_8),
                produced.value(),
                event.timestamp().toEpochMilli(),
                produced.headers());
    }

    /** The store, with somebody who looks after each write. */
    @SuppressWarnings("unchecked")
    private static KeyValueStore<Bytes, byte[]> watched(KeyValueStore<Bytes, byte[]> rows, Runnable look) {
        return (KeyValueStore<Bytes, byte[]>) Proxy.newProxyInstance(
                JournalProcessorTest.class.getClassLoader(),
                new Class<?>[] {KeyValueStore.class},
                (proxy, method, args) -> {
                    try {
                        Object result = method.invoke(rows, args);
                        if (method.getName().startsWith("put")
                                || method.getName().equals("delete")) {
                            look.run();
                        }
                        return result;
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }
}
