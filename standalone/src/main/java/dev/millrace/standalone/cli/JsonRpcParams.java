package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;

/** What a method is given; what is no good is refused with what was expected and what was found. */
record JsonRpcParams(JsonNode json) {

    private static final int MAX_FOUND = 60;

    /** A text that has to be there. */
    String text(String name) {
        return optionalText(name).orElseThrow(() -> expected(name, "a text", json.path(name)));
    }

    /** A text; empty if there is none. */
    Optional<String> optionalText(String name) {
        JsonNode value = json.path(name);
        if (value.isMissingNode() || value.isNull()) {
            return Optional.empty();
        }
        if (!value.isTextual()) {
            throw expected(name, "a text", value);
        }
        return Optional.of(value.textValue());
    }

    /** A path that has to be there and to be absolute, on this system or another. */
    String absolutePath(String name) {
        return optionalPath(name).orElseThrow(() -> expected(name, "an absolute path", json.path(name)));
    }

    /** The same; empty if there is none. */
    Optional<String> optionalPath(String name) {
        Optional<String> path = optionalText(name);
        if (path.isPresent() && !path.get().matches("(?s)/.*|[A-Za-z]:[\\\\/].*|\\\\\\\\.*")) {
            throw expected(name, "an absolute path", json.path(name));
        }
        return path;
    }

    /** A list; empty if it is not there. */
    JsonNode list(String name) {
        JsonNode value = json.path(name);
        if (!value.isMissingNode() && !value.isNull() && !value.isArray()) {
            throw expected(name, "a list", value);
        }
        return value;
    }

    /** That something is no good. */
    static JsonRpcException expected(String name, String what, JsonNode found) {
        return JsonRpcException.params(name + ": expected " + what + ", found " + found(found));
    }

    private static String found(JsonNode value) {
        return value.isMissingNode() ? "nothing" : Progress.cut(value.toString(), MAX_FOUND);
    }
}
