package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.rest.problems.ProblemException;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.QueryParam;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** What a client of a stream has already seen. */
public class SeenParameters {
    @Parameter(description = "Only what comes after this id.")
    @QueryParam("after")
    @Nullable
    String after;

    @Parameter(description = "Like after; overrides it.")
    @HeaderParam("Last-Event-ID")
    @Nullable
    String lastEventId;

    /**
     * The place after it; {@code null} = it has seen nothing.
     *
     * @throws ProblemException if it cannot be read
     */
    @Nullable
    Places places() {
        String text = text();
        return text.isBlank() ? null : Places.parse(text.strip()).orElseThrow(this::refused);
    }

    /** Says that this is not a place of the stream that was asked for. */
    ProblemException refused() {
        return refused("an id of this stream");
    }

    /** Says what was expected instead. */
    ProblemException refused(String expected) {
        return ProblemException.badParameter("after", expected, text());
    }

    private String text() {
        String last = lastEventId;
        return last != null && !last.isBlank() ? last : after == null ? "" : after;
    }
}
