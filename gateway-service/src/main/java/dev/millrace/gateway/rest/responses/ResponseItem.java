package dev.millrace.gateway.rest.responses;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a response consists of, in OpenAI's words. */
sealed interface ResponseItem {
    /** Who has the tools, as OpenAI names it: from outside an agent's tools are one server. */
    String SERVER = "millrace";

    String IN_PROGRESS = "in_progress";
    String COMPLETED = "completed";

    String id();

    /** Something that the agent has said. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Message(
            String id,
            String type,
            String status,
            String role,
            @Nullable String phase,
            List<Part> content) implements ResponseItem {
        /** Before there is a word. */
        static Message begun(String id) {
            return new Message(id, "message", IN_PROGRESS, "assistant", null, List.of());
        }

        /** With all of its words. */
        static Message of(String id, String text, boolean last) {
            return new Message(
                    id,
                    "message",
                    COMPLETED,
                    "assistant",
                    last ? "final_answer" : "commentary",
                    List.of(Part.of(text)));
        }

        /** Broken off. */
        static Message brokenOff(String id, String text) {
            return new Message(id, "message", "incomplete", "assistant", "commentary", List.of(Part.of(text)));
        }
    }

    /** A text. */
    record Part(String type, String text, List<Object> annotations, List<Object> logprobs) {
        static Part of(String text) {
            return new Part("output_text", text, List.of(), List.of());
        }
    }

    /** A tool call of the agent's own, which is none that the client should make. */
    record McpCall(
            String id,
            String type,
            String status,
            @JsonProperty("server_label") String serverLabel,
            String name,
            String arguments,
            @Nullable String output,
            @Nullable String error,
            @JsonProperty("approval_request_id") @Nullable String approvalRequestId)
            implements ResponseItem {
        /** One that goes on. */
        static McpCall begun(String id, String name, String arguments) {
            return new McpCall(id, "mcp_call", IN_PROGRESS, SERVER, name, arguments, null, null, null);
        }

        /** The same at its end; one of the two is not {@code null}. */
        McpCall ended(@Nullable String result, @Nullable String failure) {
            return new McpCall(
                    id,
                    type,
                    failure == null ? COMPLETED : "failed",
                    serverLabel,
                    name,
                    arguments,
                    result,
                    failure,
                    null);
        }
    }

    /** A tool call that waits for a person; its id is that of the call. */
    record McpApprovalRequest(
            String id,
            String type,
            @JsonProperty("server_label") String serverLabel,
            String name,
            String arguments) implements ResponseItem {
        static McpApprovalRequest of(String callId, String name, String arguments) {
            return new McpApprovalRequest(callId, "mcp_approval_request", SERVER, name, arguments);
        }
    }
}
