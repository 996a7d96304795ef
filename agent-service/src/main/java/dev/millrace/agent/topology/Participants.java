package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import java.util.List;

/** What strangers say of who takes part in a session. */
public final class Participants {

    /** More are not taken, of one session. */
    private static final int MAX = 20;

    private static final int MAX_NAME = 64;

    private Participants() {}

    /** Those that an event of an open type names; empty = none, or nothing that could be names. */
    public static List<String> said(Event event) {
        if (!(event.fields().get("participants") instanceof List<?> said) || said.size() > MAX) {
            return List.of();
        }
        List<String> names = said.stream()
                .filter(String.class::isInstance)
                .map(String.class::cast)
                .filter(name -> !name.isBlank() && name.length() <= MAX_NAME)
                .distinct()
                .toList();
        return names.size() == said.size() ? names : List.of();
    }
}
