package dev.millrace.standalone.cli;

import org.jspecify.annotations.Nullable;

/** A path with parameters. */
record Query(String text) {

    /** The same with one more parameter; with none if the value is {@code null}. */
    Query with(String name, @Nullable Object value) {
        return value == null
                ? this
                : new Query(text
                        + (text.indexOf('?') < 0 ? '?' : '&')
                        + name
                        + '='
                        + GatewayClient.encoded(value.toString()));
    }

    @Override
    public String toString() {
        return text;
    }
}
