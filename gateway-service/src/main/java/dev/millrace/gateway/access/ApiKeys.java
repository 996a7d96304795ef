package dev.millrace.gateway.access;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys that count now. The file is looked at again when a key is asked for, at most once a second; while it cannot
 * be read, the keys of before count, and the log says so. For any thread.
 */
public final class ApiKeys {
    private static final Logger LOGGER = LoggerFactory.getLogger(ApiKeys.class);

    /** How long a change may take to count. */
    static final Duration FRESH = Duration.ofSeconds(1);

    private final ApiKeyFile file;
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock. */
    private byte[] read;

    private boolean failing;

    private volatile Map<String, ApiKey> byHash;
    private volatile long lookedAtMillis;

    /**
     * Reads the file.
     *
     * @throws IOException if it cannot be read, or has something else in it
     */
    public ApiKeys(ApiKeyFile file, InstantSource clock) throws IOException {
        this.file = file;
        this.clock = clock;
        this.read = file.bytes();
        this.byHash = byHash(file.keys(read));
        this.lookedAtMillis = clock.millis();
    }

    /** Who calls with this; empty if nobody does, or not any more. */
    public Optional<Identity> find(String secret) {
        if (clock.millis() - lookedAtMillis >= FRESH.toMillis()) {
            look();
        }
        ApiKey key = byHash.get(ApiKey.hash(secret));
        return key == null || key.expired(clock.instant()) ? Optional.empty() : Optional.of(key.identity());
    }

    private void look() {
        if (!lock.tryLock()) {
            return; // somebody else looks
        }
        try {
            byte[] now = file.bytes();
            if (!Arrays.equals(now, read)) {
                byHash = byHash(file.keys(now));
                read = now;
                LOGGER.info("The file of API keys has changed: {} keys count now", byHash.size());
            }
            failing = false;
        } catch (IOException e) {
            if (!failing) {
                LOGGER.atError().setCause(e).log("The file of API keys cannot be read; the keys of before still count");
            }
            failing = true;
        } finally {
            lookedAtMillis = clock.millis();
            lock.unlock();
        }
    }

    private static Map<String, ApiKey> byHash(List<ApiKey> keys) {
        return keys.stream()
                .collect(Collectors.toUnmodifiableMap(ApiKey::hash, Function.identity(), (one, same) -> one));
    }
}
