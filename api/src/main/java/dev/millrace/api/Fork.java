package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** From where and how a task is to go on in another way. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@Schema(
        name = "ForkRequest",
        description = "From where and how a task is to go on in another way, as a task of its own.")
public record Fork(
        @Schema(
                description =
                        "An event of the task. What brings something to it (a message, an answer, a decision, a result):"
                                + " the fork begins with the model call that follows. Any other: with the last model"
                                + " call before it. Absent = the event that started the task.")
        @Nullable
        String fromEvent,

        @Schema(
                description = "In place of what was said last to the task up to there. Absent = the same.",
                maxLength = Task.Request.MAX_TEXT)
        @Nullable
        String text,

        @Schema(description = "The agent that goes on. Absent = the same, as it is now.") @Nullable
        String agent,

        @Schema(description = "Name of a configured model. Absent = the one that the task asked for.") @Nullable
        String model,

        @Schema(description = "In place of the result that fromEvent has brought: any JSON. Absent = the same.")
        @Nullable
        Object result,

        @Schema(description = "In place of the result that fromEvent has brought: that the call failed, and why.")
        @Nullable
        String error,

        @Schema(
                description = "Your own id of the new task, so that a repeated request makes no second one. Also as the"
                        + " header Idempotency-Key. Absent = one is drawn.")
        @Nullable
        String id) {}
