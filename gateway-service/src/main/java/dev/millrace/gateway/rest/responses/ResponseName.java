package dev.millrace.gateway.rest.responses;

import dev.millrace.gateway.rest.chat.ChatException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;

/** Names of responses: that of the event which the turn begins with, with a word before it. */
final class ResponseName {
    private static final String PREFIX = "resp_";

    private ResponseName() {}

    static String of(Event begin) {
        return PREFIX + begin.id();
    }

    /**
     * The id of the event.
     *
     * @throws ChatException if it is no name of a response
     */
    static String eventId(String name) {
        if (!name.startsWith(PREFIX)
                || name.length() == PREFIX.length()
                || name.length() > PREFIX.length() + Ids.MAX_LENGTH) {
            throw unknown(name);
        }
        return name.substring(PREFIX.length());
    }

    static ChatException unknown(String name) {
        return ChatException.refused(
                404,
                "response_not_found",
                "There is no response " + (name.length() > 200 ? "of that name" : name) + ".");
    }
}
