package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskEvent.Opening;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.schemas.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what a message brings along beside its text: {@code history} and {@code images}. */
final class Openings {

    private Openings() {}

    /**
     * What the event brings along.
     *
     * @throws IllegalArgumentException if that is not as its schema has it
     */
    static Opening of(Event event) {
        List<TranscriptEntry> history = new ArrayList<>();
        for (Object entry : list(event.payload().get("history"))) {
            history.add(entry(object(entry)));
        }
        List<TranscriptEntry.Image> images = images(event.payload().get("images"));
        return history.isEmpty() && images.isEmpty() ? Opening.NONE : new Opening(history, images);
    }

    private static TranscriptEntry entry(Map<?, ?> said) {
        String text = text(said, "text");
        return switch (text(said, "role")) {
            case "user" -> new TranscriptEntry.UserText(text, images(said.get("images")));
            case "assistant" -> new TranscriptEntry.AssistantTurn(text, List.of());
            // the agent's own prompt is the one system message, and goes before what a client wants of it
            case "system" -> new TranscriptEntry.UserText("<system_message>\n" + text + "\n</system_message>");
            case String other ->
                throw new IllegalArgumentException("history: expected user, assistant or system, found " + other);
        };
    }

    private static List<TranscriptEntry.Image> images(@Nullable Object value) {
        List<TranscriptEntry.Image> images = new ArrayList<>();
        for (Object image : list(value)) {
            images.add(new TranscriptEntry.Image(text(object(image), "mediaType"), text(object(image), "data")));
        }
        return images;
    }

    private static List<?> list(@Nullable Object value) {
        return value instanceof List<?> list ? list : List.of();
    }

    private static Map<?, ?> object(@Nullable Object value) {
        if (value instanceof Map<?, ?> object) {
            return object;
        }
        throw new IllegalArgumentException("history, images: expected objects, found " + value);
    }

    private static String text(Map<?, ?> object, String field) {
        if (object.get(field) instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException(field + ": expected a text, found " + object.get(field));
    }
}
