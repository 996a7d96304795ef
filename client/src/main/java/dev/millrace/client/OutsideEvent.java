package dev.millrace.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened elsewhere, as a CloudEvent 1.0. {@link #of} and the {@code with…} make one.
 *
 * @param specversion 1.0
 * @param id the same one again, from the same source, changes nothing
 * @param type such as {@code order.placed}
 * @param source who says so: a URI reference
 * @param sessionId the conversation that it belongs to; {@code null} = none
 * @param namespace the tenant; {@code null} = that of the client
 * @param data what it says; anything that Jackson writes
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonPropertyOrder({"specversion", "id", "type", "source", "sessionid", "namespace", "data"})
public record OutsideEvent(
        String specversion,
        String id,
        String type,
        String source,
        @JsonProperty("sessionid") @Nullable String sessionId,
        @Nullable String namespace,
        @Nullable Object data) {

    /** An event with a fresh id. */
    public static OutsideEvent of(String type, String source, @Nullable Object data) {
        return new OutsideEvent("1.0", UUID.randomUUID().toString(), type, source, null, null, data);
    }

    /** The same with an id of its source. */
    public OutsideEvent withId(String own) {
        return new OutsideEvent(specversion, own, type, source, sessionId, namespace, data);
    }

    /** The same in this conversation. */
    public OutsideEvent inSession(String session) {
        return new OutsideEvent(specversion, id, type, source, session, namespace, data);
    }

    OutsideEvent inNamespace(String tenant) {
        return namespace == null ? new OutsideEvent(specversion, id, type, source, sessionId, tenant, data) : this;
    }
}
