package dev.millrace.testing;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.Map;

/** Configuration without a container. */
public final class Configured {

    private Configured() {}

    /** The mapping as it is with these properties and no others: no file, no environment. */
    public static <T> T of(Class<T> mapping, Map<String, String> properties) {
        return new SmallRyeConfigBuilder()
                .addDiscoveredConverters()
                .withSources(new PropertiesConfigSource(properties, "test", 100))
                .withMapping(mapping)
                .build()
                .getConfigMapping(mapping);
    }
}
