package dev.millrace.gateway.webhook;

import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A request as it came. */
public final class WebhookRequest {

    private final Function<String, @Nullable String> header;
    private final byte[] body;

    /**
     * A request.
     *
     * @param header the value of a header by its name in whatever case; {@code null} = it is not there
     * @param body the very bytes, since they are what was signed; not copied
     */
    public WebhookRequest(Function<String, @Nullable String> header, byte[] body) {
        this.header = header;
        this.body = body;
    }

    Optional<String> find(String name) {
        return Optional.ofNullable(header.apply(name)).map(String::strip).filter(value -> !value.isEmpty());
    }

    byte[] body() {
        return body;
    }
}
