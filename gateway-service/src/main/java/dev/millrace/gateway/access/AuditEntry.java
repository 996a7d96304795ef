package dev.millrace.gateway.access;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * One request to change something, or one that was refused. It says who, what and where, by names and ids, and nothing
 * of what is in a body or in a query.
 *
 * @param at when the gateway had decided, RFC 3339
 * @param principal who asked; {@code null} = nobody who is known
 * @param login how they have logged in, {@code key} or {@code jwt}; {@code null} = they have not
 * @param method of HTTP
 * @param path as it was asked for, with the ids that are in it
 * @param namespace where; {@code *} = in all of them; {@code null} = it was refused before that was known
 * @param needs the permission that the route asks for
 * @param outcome what was decided
 * @param code why it was refused, the code of the problem; {@code null} = it was not
 * @param client the address that the request came from; {@code null} = not known
 * @param dropped so many refusals before this one are not in the log, since too many came at once
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AuditEntry(
        String at,
        @Nullable String principal,
        @Nullable String login,
        String method,
        String path,
        @Nullable String namespace,
        String needs,
        Outcome outcome,
        @Nullable String code,
        @Nullable String client,
        @Nullable Long dropped) {

    /** What was decided. */
    public enum Outcome {
        /** The caller may ask for this; it can still be a 404 or a conflict. */
        PERMITTED,
        /** The caller may not. */
        REFUSED
    }

    /** The same refusal, with how many before it are missing. */
    public AuditEntry after(long missing) {
        return new AuditEntry(
                at,
                principal,
                login,
                method,
                path,
                namespace,
                needs,
                outcome,
                code,
                client,
                missing == 0 ? null : missing);
    }
}
