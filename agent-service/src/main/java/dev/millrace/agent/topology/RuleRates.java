package dev.millrace.agent.topology;

import dev.millrace.agent.rules.Rules;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many events agents were given in this minute, by session and by rule. It is known for as long as this instance
 * has the partition, which is enough to keep a storm from costing money. For one stream thread.
 */
final class RuleRates {

    private static final long MINUTE_MS = 60_000;
    /** More sessions than that do not all come at once; the oldest is forgotten. */
    private static final int REMEMBERED = 10_000;

    private final Rules.Bounds bounds;
    private final Map<String, Integer> sessions = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
            return size() > REMEMBERED;
        }
    };
    private final Map<String, Integer> rules = new LinkedHashMap<>();
    private long minute;

    RuleRates(Rules.Bounds bounds) {
        this.bounds = bounds;
    }

    /**
     * Counts one more, if both have room for it.
     *
     * @param session {@code null} = there is none, and the rule counts alone
     */
    boolean take(@Nullable String session, String rule, long nowMs) {
        if (nowMs / MINUTE_MS != minute) {
            minute = nowMs / MINUTE_MS;
            sessions.clear();
            rules.clear();
        }
        int ofSession = session == null ? 0 : sessions.getOrDefault(session, 0);
        int ofRule = rules.getOrDefault(rule, 0);
        if (ofSession >= bounds.perSession() || ofRule >= bounds.perRule()) {
            return false;
        }
        if (session != null) {
            sessions.put(session, ofSession + 1);
        }
        rules.put(rule, ofRule + 1);
        return true;
    }
}
