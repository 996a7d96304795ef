package dev.millrace.bench.crash;

import java.time.Instant;
import java.util.List;

/**
 * What came of a fault.
 *
 * @param what it was, and to whom it happened
 * @param at when it struck
 * @param brokenMs from there until it was mended
 * @param goneOnMs from there until tasks that were accepted afterwards had ended on all partitions
 * @param wellMs from when it was mended until every service was ready again, every task from before had ended, and one
 *     from afterwards on every partition
 * @param openAtStrike tasks that were in flight when it struck
 * @param restarts what had to be started again besides, and why
 */
public record Aftermath(
        Fault fault,
        String what,
        Instant at,
        long brokenMs,
        long goneOnMs,
        long wellMs,
        int openAtStrike,
        List<String> restarts) {}
