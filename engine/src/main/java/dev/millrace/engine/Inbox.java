package dev.millrace.engine;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * What a machine is handed by others in its process, so that it need not come back by way of a broker. Nothing of it is
 * kept before the commit that it leads to: who hands something over puts it on a topic as well, or can do the work
 * again (ADR 0031). For any thread.
 *
 * @param <T> what is handed over
 */
public final class Inbox<T> {

    private final Map<Integer, Box<T>> boxes = new ConcurrentHashMap<>();

    /**
     * The machine's end of one partition. For its stream thread.
     *
     * @param <T> what is handed over
     */
    public static final class Box<T> implements AutoCloseable {

        private final Queue<T> waiting = new ConcurrentLinkedQueue<>();
        private final CommitTimes thread;
        private final Predicate<ConsumerRecord<byte[], byte[]>> second;
        private final Runnable close;

        private Box(CommitTimes thread, Predicate<ConsumerRecord<byte[], byte[]>> second, Consumer<Box<T>> close) {
            this.thread = thread;
            this.second = second;
            this.close = () -> close.accept(this);
            thread.add(this);
        }

        /** The oldest that has not been taken; {@code null} = there is none. */
        public @Nullable T poll() {
            return waiting.poll();
        }

        boolean isEmpty() {
            return waiting.isEmpty();
        }

        boolean isSecond(ConsumerRecord<byte[], byte[]> candidate) {
            return second.test(candidate);
        }

        /** Nothing more is taken; what is still in it is dropped. */
        @Override
        public void close() {
            thread.remove(this);
            close.run();
        }
    }

    /**
     * Begins to take what is for a partition, in place of whoever did before; to be called on the thread that takes it,
     * from {@code init}.
     *
     * @param second whether a record that the thread has polled, of any of its topics and partitions, has been taken
     *     from hand to hand before: most of these do not come to the machine. Asked on the thread, until the box is
     *     closed.
     */
    public Box<T> open(int partition, Predicate<ConsumerRecord<byte[], byte[]>> second) {
        Box<T> box = new Box<>(CommitTimes.ofThread(), second, closed -> boxes.remove(partition, closed));
        boxes.put(partition, box);
        return box;
    }

    /**
     * Hands something over, in the order of the calls of one thread.
     *
     * @return false if nobody in this process takes what is for the partition
     */
    public boolean offer(int partition, T item) {
        Box<T> box = boxes.get(partition);
        if (box == null) {
            return false;
        }
        box.waiting.add(item);
        box.thread.wake();
        return true;
    }
}
