package dev.millrace.llm.rates;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The claims of all who share a key, in the one order in which everybody sees them. A claim counts from its moment
 * until the window and its margin have passed, unless it is released before.
 *
 * <p>Whether a claim is granted depends only on the claims before it that still count and are not released by then. Who
 * was refused releases, so among the claims that are used no window holds more than the limit: the last one of them in
 * a window saw all the others. Nobody has to know who else is there, and who begins to read needs no more than the
 * claims of the last window.
 *
 * <p>Time is the caller's, in milliseconds; where it goes back it is taken to stand still. Not safe for several
 * threads.
 */
public final class RateWindow {

    private final RateLimit limit;
    private final Map<String, Claim> counting = new LinkedHashMap<>(); // oldest first
    private long tokens;
    private long nowMs = Long.MIN_VALUE;

    private record Claim(long atMs, long tokens) {}

    /** A window in which nothing has happened. */
    public RateWindow(RateLimit limit) {
        this.limit = limit;
    }

    /**
     * Counts a claim for one request.
     *
     * @param id unique; one that counts already is not counted again
     * @param claimed tokens, 0 or more
     * @return whether there was room for it; it counts in any case, until it is released
     */
    public boolean claim(String id, long claimed, long atMs) {
        advance(atMs);
        boolean fits = fits(counting.size(), tokens, claimed);
        if (counting.putIfAbsent(id, new Claim(nowMs, claimed)) == null) {
            tokens += claimed;
        }
        return fits;
    }

    /** Forgets a claim: nothing was sent for it. */
    public void release(String id, long atMs) {
        advance(atMs);
        Claim claim = counting.remove(id);
        if (claim != null) {
            tokens -= claim.tokens();
        }
    }

    /** Corrects the tokens of a claim to what was used. It counts from its own moment still. */
    public void settle(String id, long used, long atMs) {
        advance(atMs);
        Claim claim = counting.get(id);
        if (claim != null) {
            counting.put(id, new Claim(claim.atMs(), used)); // keeps its place
            tokens += used - claim.tokens();
        }
    }

    /** How long from the latest moment on until there is room for a claim, if nobody else claims. */
    public Duration untilRoomFor(long claimed) {
        int requestsLeft = counting.size();
        long tokensLeft = tokens;
        Iterator<Claim> oldest = counting.values().iterator();
        long roomAt = nowMs;
        while (!fits(requestsLeft, tokensLeft, claimed) && oldest.hasNext()) {
            Claim claim = oldest.next();
            requestsLeft--;
            tokensLeft -= claim.tokens();
            roomAt = claim.atMs() + limit.spanMs();
        }
        return Duration.ofMillis(Math.max(0, roomAt - nowMs));
    }

    /** Requests that count at this moment. */
    public int requests(long atMs) {
        advance(atMs);
        return counting.size();
    }

    /** Tokens that count at this moment. */
    public long tokens(long atMs) {
        advance(atMs);
        return tokens;
    }

    private boolean fits(int requestsBefore, long tokensBefore, long claimed) {
        Integer maxRequests = limit.maxRequests();
        Long maxTokens = limit.maxTokens();
        return (maxRequests == null || requestsBefore < maxRequests)
                && (maxTokens == null || tokensBefore + claimed <= maxTokens);
    }

    private void advance(long atMs) {
        nowMs = Math.max(nowMs, atMs);
        Iterator<Claim> oldest = counting.values().iterator();
        while (oldest.hasNext()) {
            Claim claim = oldest.next();
            if (nowMs - claim.atMs() < limit.spanMs()) {
                return;
            }
            oldest.remove();
            tokens -= claim.tokens();
        }
    }
}
