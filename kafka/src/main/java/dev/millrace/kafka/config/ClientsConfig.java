package dev.millrace.kafka.config;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Redaction;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.microprofile.config.Config;

/**
 * How every client of an installation reaches the brokers: the {@code kafka.*} keys of the configuration. And what its
 * producers take out of dead letters.
 */
public final class ClientsConfig {

    private static final String PREFIX = "kafka.";
    private static final String BOOTSTRAP_SERVERS = "bootstrap.servers";
    private static final String DEFAULT_SERVERS = "localhost:9092";

    private ClientsConfig() {}

    /**
     * All {@code kafka.*} keys without that prefix; {@code bootstrap.servers} is always among them. The patterns of
     * {@link Redaction} are there under their own keys.
     *
     * @throws IllegalArgumentException if such a pattern cannot be used
     */
    public static ClientSettings of(Config config) {
        Map<String, String> settings = new HashMap<>();
        for (String name : config.getPropertyNames()) {
            if (name.startsWith(PREFIX)) {
                config.getOptionalValue(name, String.class)
                        .ifPresent(found -> settings.put(name.substring(PREFIX.length()), found));
            } else if (name.startsWith(Redaction.PREFIX)) {
                config.getOptionalValue(name, String.class).ifPresent(found -> settings.put(name, found));
            }
        }
        Redaction unused = Redaction.of(settings);
        // asked for by name as well, since an environment variable may stand for it
        settings.put(
                BOOTSTRAP_SERVERS,
                config.getOptionalValue(PREFIX + BOOTSTRAP_SERVERS, String.class)
                        .orElse(DEFAULT_SERVERS));
        return ClientSettings.NONE.with(settings);
    }
}
