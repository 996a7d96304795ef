package dev.millrace.schemas.kafka;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** How every client of an installation reaches the brokers: the {@code kafka.*} keys of the configuration. */
public final class ClientSettings {

    private static final String PREFIX = "kafka.";
    private static final String BOOTSTRAP_SERVERS = "bootstrap.servers";
    private static final String DEFAULT_SERVERS = "localhost:9092";

    private ClientSettings() {}

    /**
     * All {@code kafka.*} keys without that prefix; {@code bootstrap.servers} is always among them.
     *
     * @param names the names of all keys that are set
     * @param value gives a key's value; also asked for {@code kafka.bootstrap.servers} when it is not among the names, since
     *     an environment variable may stand for it
     */
    public static Map<String, Object> of(Iterable<String> names, Function<String, Optional<String>> value) {
        Map<String, Object> settings = new HashMap<>();
        for (String name : names) {
            if (name.startsWith(PREFIX)) {
                value.apply(name).ifPresent(found -> settings.put(name.substring(PREFIX.length()), found));
            }
        }
        settings.put(BOOTSTRAP_SERVERS, value.apply(PREFIX + BOOTSTRAP_SERVERS).orElse(DEFAULT_SERVERS));
        return settings;
    }
}
