package dev.millrace.tools.env;

import dev.millrace.tools.env.Variables.Scope;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What is known of variables, in memory and within its bounds. When all together are too large, the tenant that has
 * most loses those of the conversation that has set none for the longest time, and so on. For one thread at a time.
 */
final class KnownVariables {

    /** How many variables one conversation may have. */
    static final int MAX_PER_SCOPE = 100;
    /** How large those of one conversation may be: names and values as UTF-8, and {@link #ENTRY_BYTES} for each. */
    static final int MAX_SCOPE_BYTES = 1_000_000;
    /** The smallest bound of all together. */
    static final long MIN_BYTES = 2L * MAX_SCOPE_BYTES;

    static final int ENTRY_BYTES = 200;

    private final long maxBytes;
    private final Map<Scope, Held> held = new HashMap<>();
    private final Map<String, Long> bytesByNamespace = new HashMap<>();
    private long bytes;

    private record Value(String text, long setAtMs) {}

    private static final class Held {
        private final Map<String, Value> values = new HashMap<>();
        private long bytes;
        private long lastSetMs;
    }

    /** At most so many bytes in all, as {@link #MAX_SCOPE_BYTES} counts them; {@link #MIN_BYTES} or more. */
    KnownVariables(long maxBytes) {
        if (maxBytes < MIN_BYTES) {
            throw new IllegalArgumentException(
                    "millrace.tools.env.max-size: expected " + MIN_BYTES + " bytes or more, found " + maxBytes);
        }
        this.maxBytes = maxBytes;
    }

    /** Why a variable cannot be set: what was expected and found; empty if it can. */
    Optional<String> refusal(Scope scope, String key, String value) {
        Held of = held.get(scope);
        @Nullable Value before = of == null ? null : of.values.get(key);
        int count = of == null ? 0 : of.values.size();
        if (before == null && count >= MAX_PER_SCOPE) {
            return Optional.of("expected up to " + MAX_PER_SCOPE + " variables in this " + scope.kind()
                    + ", found as many already");
        }
        long others = of == null ? 0 : of.bytes - (before == null ? 0 : size(key, before.text()));
        long all = others + size(key, value);
        return all <= MAX_SCOPE_BYTES
                ? Optional.empty()
                : Optional.of("expected up to " + MAX_SCOPE_BYTES + " bytes of variables in this " + scope.kind()
                        + ", found " + all + " with this one");
    }

    /** Notes that a variable was set; one that should have been refused is passed over. */
    void put(Scope scope, String key, String value, long setAtMs) {
        if (refusal(scope, key, value).isPresent()) {
            return;
        }
        Held of = held.computeIfAbsent(scope, unknown -> new Held());
        Value before = of.values.put(key, new Value(value, setAtMs));
        of.lastSetMs = Math.max(of.lastSetMs, setAtMs);
        count(scope, of, size(key, value) - (before == null ? 0 : size(key, before.text())));
        if (bytes > maxBytes) {
            // some more, so that not each one that is set costs a look at all
            while (bytes > maxBytes / 10 * 9) {
                drop();
            }
        }
    }

    Optional<String> get(Scope scope, String key) {
        Held of = held.get(scope);
        return of == null
                ? Optional.empty()
                : Optional.ofNullable(of.values.get(key)).map(Value::text);
    }

    /** Forgets what these have set up to this moment. */
    void forget(Predicate<Scope> whose, long upToMs) {
        held.forEach((scope, of) -> {
            if (whose.test(scope)) {
                of.values.entrySet().removeIf(entry -> {
                    boolean old = entry.getValue().setAtMs() <= upToMs;
                    if (old) {
                        count(scope, of, -size(entry.getKey(), entry.getValue().text()));
                    }
                    return old;
                });
            }
        });
        held.values().removeIf(of -> of.values.isEmpty());
    }

    long bytes() {
        return bytes;
    }

    private void drop() {
        String largest = bytesByNamespace.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElseThrow();
        Scope oldest = held.entrySet().stream()
                .filter(entry -> entry.getKey().namespace().equals(largest))
                .min(Comparator.comparingLong(entry -> entry.getValue().lastSetMs))
                .map(Map.Entry::getKey)
                .orElseThrow();
        Held gone = Objects.requireNonNull(held.remove(oldest));
        count(oldest, gone, -gone.bytes);
    }

    private void count(Scope scope, Held of, long more) {
        of.bytes += more;
        bytes += more;
        long ofNamespace = bytesByNamespace.merge(scope.namespace(), more, Long::sum);
        if (ofNamespace == 0) {
            bytesByNamespace.remove(scope.namespace());
        }
    }

    private static long size(String key, String value) {
        return (long) key.getBytes(StandardCharsets.UTF_8).length
                + value.getBytes(StandardCharsets.UTF_8).length
                + ENTRY_BYTES;
    }
}
