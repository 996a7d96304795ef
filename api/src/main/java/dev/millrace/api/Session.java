package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A conversation: tasks that share a session id. Absent values are {@code null}. */
@Schema(name = "Session", description = "A conversation: tasks that share a session id.")
public record Session(
        String sessionId,
        String namespace,

        @Schema(description = "What it is called; null = nobody has said.") @Nullable
        String title,

        @Schema(description = "Unix milliseconds") long createdAt,

        @Schema(description = "When something last happened in it, Unix milliseconds.")
        long updatedAt,

        @Schema(description = "Who takes part: agents by name, and user for people; empty = nobody has said.")
        List<String> participants,

        @Schema(description = "How many tasks it has; no more than 1000 are counted. null = not known.") @Nullable
        Integer tasks) {

    public Session {
        // what answers may be of a version before there were any
        participants = participants == null ? List.of() : List.copyOf(participants);
    }

    /** More do not take part in one session. */
    public static final int MAX_PARTICIPANTS = 20;

    /** More tasks of one are not counted. */
    public static final int MOST_COUNTED = 1_000;

    /** What people are called among participants. */
    public static final String PEOPLE = "user";

    /** A session to make. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "SessionRequest", description = "A session to make.")
    public record Request(
            @Schema(description = "Its id, 1 to 256 characters. Absent = one is drawn.") @Nullable
            String sessionId,

            @Schema(description = "What it is to be called, 1 to 200 characters.") @Nullable
            String title,

            @Schema(description = "The tenant; absent = default.") @Nullable
            String namespace,

            @Schema(
                    description =
                            "Who takes part: agents by name, and user for people, 1 to 20. Absent = one agent at a time,"
                                    + " as each task says.")
            @Nullable
            List<String> participants) {

        /** The longest title, in characters. */
        public static final int MAX_TITLE = 200;
    }

    /** Something to say in a session. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "SessionPrompt", description = "Something to say in a session.")
    public record Prompt(
            @Schema(description = "What is said, 1 to 100000 characters.") @Nullable
            String content) {}

    /** A prompt is stored. */
    @Schema(name = "SessionPrompted", description = "The event is stored; its task begins when its turn has come.")
    public record Prompted(
            boolean success,

            String sessionId,

            @Schema(examples = "Processing started") String message,

            @Schema(description = "The event's id, which is that of its task, unless a task waits for an answer.")
            String eventId) {}

    /** Some sessions. */
    @Schema(name = "SessionPage")
    public record Page(
            @Schema(description = "The one in which something happened last comes first.")
            List<Session> sessions,

            @Schema(description = "For ?cursor=; null on the last page.") @Nullable
            String next) {}

    /** Something that was said in a session. */
    @Schema(name = "SessionMessage", description = "Something that was said in a session.")
    public record Message(
            @Schema(description = "The id of the event that tells it; of an interruption, with -notice behind it.")
            String id,

            @Schema(enumeration = {"user", "assistant"}) String role,

            String content,

            @Schema(description = "Unix milliseconds") long timestamp,

            String taskId,

            @Schema(description = "Its place in the journal.")
            String cursor) {}

    /** Some messages. */
    @Schema(name = "SessionMessagePage")
    public record Messages(
            @Schema(description = "The newest ones that are wanted, the oldest of them first.")
            List<Message> messages,

            @Schema(description = "For ?before=, to get older ones; null if there are none.") @Nullable
            String next) {}

    /** What has been stopped. */
    @Schema(name = "SessionInterrupted", description = "What has been stopped.")
    public record Interrupted(
            String sessionId,

            @Schema(description = "Whether a task was at work or waited.")
            boolean interrupted,

            @Schema(description = "Tasks of the session that are cancelled, with the sub-tasks that they have.")
            List<String> taskIds) {}

    /** A session is forgotten. */
    @Schema(name = "SessionDeleted", description = "The request to forget the session is stored.")
    public record Deleted(
            String sessionId,

            @Schema(description = "For GET /v1/forget/{forgetId}.")
            String forgetId,

            @Schema(examples = "accepted") String status) {}
}
