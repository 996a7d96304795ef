package dev.millrace.http.client;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import java.nio.charset.StandardCharsets;

/** Agent-service cannot read a parameter; asking again with the same one does not help. */
public final class BadQueryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BadQueryException(String problemJson) {
        super(detail(problemJson));
    }

    private static String detail(String problemJson) {
        try {
            return Json.readObject(problemJson.getBytes(StandardCharsets.UTF_8)).get("detail") instanceof String detail
                    ? detail
                    : "a parameter cannot be read";
        } catch (MalformedEventException e) {
            return "a parameter cannot be read";
        }
    }
}
