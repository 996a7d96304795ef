package dev.millrace.tools.env;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Variables for tests that are not about Kafka. */
final class MemoryVariables implements Variables {

    private final Map<String, String> values = new HashMap<>();

    @Override
    public void set(Scope scope, String key, String value) {
        values.put(scope + key, value);
    }

    @Override
    public Optional<String> get(Scope scope, String key) {
        return Optional.ofNullable(values.get(scope + key));
    }
}
