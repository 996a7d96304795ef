package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** What was forgotten, and what stays where until when. */
@Schema(name = "ForgetReport")
public record ForgetReport(
        @Schema(description = "Id of the request; GET /v1/forget/{forgetId} tells how far it is.")
        String forgetId,

        String namespace,
        String scope,
        @Nullable String taskId,
        @Nullable String sessionId,

        @Schema(description = "When it was asked for; what happened later is not forgotten. RFC 3339.")
        String requestedAt,

        @Schema(description = "Whether all of it is removed from where it is removed at once.")
        boolean completed,

        Removed removed,

        @Schema(description = "Topics that still hold what was removed, and until when.")
        List<Remains> remains,

        @Schema(description = "Where else something of it may be, that Millrace does not reach.")
        List<Elsewhere> elsewhere) {

    /** What is to be forgotten. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "ForgetRequest")
    public record Request(
            @Schema(
                    description = "How much: one task, one session, the memory of a namespace, or everything of it.",
                    enumeration = {"task", "session", "memory", "namespace"},
                    required = true)
            String scope,

            @Schema(description = "The tenant; has to be named if the scope is memory or namespace. Else: default.")
            @Nullable
            String namespace,

            @Schema(description = "The task, if that is the scope.") @Nullable
            String taskId,

            @Schema(description = "The session, if that is the scope.") @Nullable
            String sessionId,

            @Schema(description = "Why, for the journal.") @Nullable
            String reason) {}

    /** How much was removed. */
    @Schema(name = "ForgottenSoFar")
    public record Removed(
            @Schema(description = "Tasks, sub-tasks included: rows and transcripts.")
            long tasks,

            @Schema(description = "Those of them that had not ended, and were cancelled first.")
            long cancelled,

            @Schema(description = "Documents of memory, each with all its versions.")
            long documents,

            @Schema(description = "Reflections that were given up.")
            long reflections) {}

    /** A topic that still holds something of it. */
    @Schema(name = "ForgetRemains")
    public record Remains(
            String topic,

            @Schema(description = "What its records are.") String holds,

            @Schema(description = "Its cleanup.policy.") String cleanup,

            @Schema(
                    description =
                            "When the last of it is gone, as the settings of the topic are now, RFC 3339; null = no"
                                    + " time can be given.")
            @Nullable
            String until,

            @Schema(description = "How the time comes about, or why there is none.")
            String why) {}

    /** A place that Millrace does not reach. */
    @Schema(name = "ForgetElsewhere")
    public record Elsewhere(String place, String why) {}
}
