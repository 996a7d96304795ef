package dev.millrace.standalone.cli;

import org.jspecify.annotations.Nullable;

/** A path with parameters. */
final class Query {
    private final StringBuilder path;
    private char separator = '?';

    Query(String path) {
        this.path = new StringBuilder(path);
    }

    /** Adds a parameter; none if the value is {@code null}. */
    Query with(String name, @Nullable Object value) {
        if (value != null) {
            path.append(separator).append(name).append('=').append(GatewayClient.encoded(value.toString()));
            separator = '&';
        }
        return this;
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
