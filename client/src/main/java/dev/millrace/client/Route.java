package dev.millrace.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A path of the gateway with parameters.
 *
 * @param text as it goes into a URL
 */
public record Route(String text) {

    /** The path with one more segment, encoded. */
    public Route at(String segment) {
        return new Route(text + '/' + encoded(segment));
    }

    /** The same with one more parameter; with none if the value is {@code null}. */
    public Route with(String name, @Nullable Object value) {
        return value == null
                ? this
                : new Route(text + (text.indexOf('?') < 0 ? '?' : '&') + name + '=' + encoded(value.toString()));
    }

    /** A value as part of a path or of a query. */
    public static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Override
    public String toString() {
        return text;
    }
}
