package dev.millrace.agent.topology;

import dev.millrace.engine.Sender;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/**
 * Gives records their own date back, beside the value, and dates what the machine does with them now. So changelogs
 * carry the time at which they were written, and neither a record from the past nor one from the future upsets their
 * retention.
 */
final class LaneDates implements Processor<byte[], byte[], byte[], LaneDates.Dated> {

    private ProcessorContext<byte[], Dated> context;

    /**
     * The value of a record from a lane.
     *
     * @param value its bytes; {@code null} = it has none
     * @param timestampMs when it came onto a lane, in Unix milliseconds: never in the future, and not what its sender
     *     says
     */
    @SuppressWarnings("ArrayRecordComponent") // bytes that are read once and never compared
    record Dated(byte @Nullable [] value, long timestampMs) {}

    @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
    LaneDates() {}

    @Override
    public void init(ProcessorContext<byte[], Dated> processorContext) {
        context = processorContext;
    }

    @Override
    public void process(Record<byte[], byte[]> incoming) {
        long now = context.currentSystemTimeMs();
        long date = Sender.dateOf(
                incoming.headers(), LaneOrder.dateOf(incoming.timestamp()), now, Sender.REROUTED, Outbox.BROADCAST);
        context.forward(new Record<>(incoming.key(), new Dated(incoming.value(), date), now, incoming.headers()));
    }
}
