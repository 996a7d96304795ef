package dev.millrace.knowledge.tools;

import dev.millrace.knowledge.index.IndexQuestion;
import dev.millrace.requests.Request;
import org.jspecify.annotations.Nullable;

/** KnowledgeArguments of a call, which a model wrote. */
final class KnowledgeArguments {

    private KnowledgeArguments() {}

    /** They are not what they should be. */
    static final class BadArgumentException extends Exception {
        private static final long serialVersionUID = 1L;

        BadArgumentException(String message) {
            super(message);
        }
    }

    static String required(Request request, String name, int max) throws BadArgumentException {
        String text = text(request, name, max);
        if (text == null) {
            throw new BadArgumentException(name + ": expected a text, found none");
        }
        return text;
    }

    static @Nullable String text(Request request, String name, int max) throws BadArgumentException {
        Object value = request.params().get(name);
        if (value == null) {
            return null;
        }
        if (value instanceof String text && !text.isBlank() && text.length() <= max) {
            return text;
        }
        throw new BadArgumentException(name + ": expected a text of 1 to " + max + " characters");
    }

    /** At most so many hits. */
    static int limit(Request request, int usual) throws BadArgumentException {
        int limit = request.params().get("limit") instanceof Number number ? number.intValue() : usual;
        if (limit < 1 || limit > IndexQuestion.MAX_LIMIT) {
            throw new BadArgumentException("limit: expected 1 to " + IndexQuestion.MAX_LIMIT + ", found " + limit);
        }
        return limit;
    }
}
