package dev.millrace.requests;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;

/** The jobs of one poll. For the consumer's thread. */
final class Batch {
    private final List<Job> jobs;
    private final CountDownLatch unsettled;

    private Batch(List<Job> jobs, CountDownLatch unsettled) {
        this.jobs = jobs;
        this.unsettled = unsettled;
    }

    /** Starts a job for each record; each gives its permit back when it is done. */
    static Batch start(ConsumerRecords<byte[], byte[]> records, Pool pool, PollTurns.Seat seat) {
        CountDownLatch unsettled = new CountDownLatch(records.count());
        List<Job> jobs = new ArrayList<>(records.count());
        for (ConsumerRecord<byte[], byte[]> consumed : records) {
            jobs.add(new Job(consumed, unsettled));
        }
        jobs.forEach(job -> pool.start(job, seat));
        return new Batch(jobs, unsettled);
    }

    /** Waits until every job has an outcome; false if the time was over first. */
    boolean awaitSettled(Duration limit) throws InterruptedException {
        return unsettled.await(limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The jobs whose outcome the broker has not been told yet. */
    List<Job> due() {
        return jobs.stream().filter(Job::isDue).toList();
    }

    /** The jobs that the broker waits for. */
    List<Job> held() {
        return jobs.stream().filter(Job::isHeld).toList();
    }

    /**
     * Only these records are still locked for us, of those that the broker waited for.
     *
     * @return how many are not
     */
    int keepOnly(ConsumerRecords<byte[], byte[]> records) {
        Set<String> places = new HashSet<>();
        records.forEach(consumed -> places.add(place(consumed)));
        List<Job> lost = held().stream()
                .filter(job -> !places.contains(place(job.consumed())))
                .toList();
        lost.forEach(Job::lockLost);
        return lost.size();
    }

    private static String place(ConsumerRecord<byte[], byte[]> consumed) {
        return consumed.partition() + "@" + consumed.offset();
    }
}
