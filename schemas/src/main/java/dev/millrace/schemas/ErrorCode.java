package dev.millrace.schemas;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The closed list of codes that say why something did not work; {@code docs/events.md} is generated from it. A code is
 * a stable word for programs, the text beside it is for people. A new one is added here first; none is renamed.
 */
public enum ErrorCode {
    // records
    NO_VALUE("The record has no value.", Place.DEAD_LETTER),
    NOT_A_CLOUD_EVENT("The record lacks ce_type or ce_id, or is no CloudEvent 1.0.", Place.DEAD_LETTER),
    NOT_UTF8("A header is not UTF-8.", Place.DEAD_LETTER),
    BAD_JSON("The value is no JSON object, or one with a field twice.", Place.DEAD_LETTER),
    BAD_FIELD("A header or field is out of its range.", Place.DEAD_LETTER),
    BAD_DEFINITION("A record of the definitions topic is no definition.", Place.DEAD_LETTER),
    SCHEMA_VIOLATION("The payload does not fit the schema of its type.", Place.DEAD_LETTER),
    BAD_PAYLOAD(
            "The payload fits the schema and still makes no sense, such as a template with a path that leads nowhere.",
            Place.DEAD_LETTER),
    NO_TEXT("The input is blank, or the template made nothing of it.", Place.DEAD_LETTER),
    NO_TASK("The type is about a task, and ce_subject is missing.", Place.DEAD_LETTER),
    UNKNOWN_TASK(
            "ce_subject names no task of this session, or a tool was asked for a task that is not there.",
            Place.DEAD_LETTER,
            Place.TOOL_CALL),
    PROCESSOR_FAILED(
            "A processor without which the event goes no further has failed, has not answered in time, or is served by"
                    + " nobody.",
            Place.DEAD_LETTER,
            Place.TASK),
    TOO_MANY_HELD(
            "As many events as may wait for processors do so already; the sender may send this one again later.",
            Place.DEAD_LETTER),
    UNKNOWN_AGENT(
            "There is no agent of the name in taskType, or the one that the task began with is gone.",
            Place.DEAD_LETTER,
            Place.TASK),
    DUPLICATE_ID("The id is that of a task in another session.", Place.DEAD_LETTER),
    BAD_REPLY_TOKEN(
            "The record answers a call and does not show the token that the request had: its sender was not asked.",
            Place.DEAD_LETTER),
    NOT_WAITING("The task waits for nobody, so a message to it was not taken.", Place.DEAD_LETTER),
    TASK_COMPLETED("The task has completed; only TASK_RESUMED with new input goes on with it.", Place.DEAD_LETTER),
    TASK_ENDED("The task has failed or was cancelled, so a message to it was not taken.", Place.DEAD_LETTER),
    NOT_ACCEPTED("Only the task machine writes events of this type, or nothing waits for one.", Place.DEAD_LETTER),
    UNEXPECTED_TYPE("A request topic holds something that is no request.", Place.DEAD_LETTER),
    WRONG_PARTITION("The record was sent to its partition once and is on another one again.", Place.DEAD_LETTER),
    RECORD_TOO_LARGE(
            "The record, or one that would follow from it, is larger than its topic takes.",
            Place.DEAD_LETTER,
            Place.TOOL_CALL,
            Place.MODEL_CALL,
            Place.TASK),
    NOT_PRODUCED(
            "A broker refused a record that follows from this one.",
            Place.DEAD_LETTER,
            Place.TOOL_CALL,
            Place.MODEL_CALL,
            Place.TASK),
    WEBHOOK_FAILED("The owner of a task could not be told at its callback URL.", Place.DEAD_LETTER),

    // tool calls
    TOOL_NOT_FOUND("There is no tool of this name.", Place.TOOL_CALL),
    TOOL_NOT_ALLOWED("The agent may not use this tool.", Place.TOOL_CALL),
    INVALID_JSON_ARGUMENTS("The model wrote arguments that are no JSON object.", Place.TOOL_CALL),
    DELIVERY_LIMIT(
            "The request was delivered as often as allowed, and no worker answered.",
            Place.DEAD_LETTER,
            Place.TOOL_CALL),
    RESULT_TOO_LARGE("The tool's result does not fit into a record.", Place.TOOL_CALL),
    INVALID_ARGUMENTS(
            "The arguments do not fit the tool's schema, or those of a decision do not.",
            Place.DEAD_LETTER,
            Place.TOOL_CALL),
    TOOL_TIMEOUT("The tool took longer than it may.", Place.TOOL_CALL),
    SUB_TASK_FAILED("A sub-task failed, was cancelled, or is not there.", Place.TOOL_CALL),
    APPROVAL_REJECTED("A person did not agree, or nobody did in time.", Place.TOOL_CALL),
    EXECUTION_ERROR("The tool failed in a way that its author did not foresee.", Place.TOOL_CALL),

    // tools of MCP servers
    MCP_TOOL_ERROR("The tool of an MCP server said no.", Place.TOOL_CALL),
    MCP_REFUSED("An MCP server refused the call.", Place.TOOL_CALL),
    MCP_UNAVAILABLE(
            "The MCP server is not there, or was lost during the call, which may have taken effect.", Place.TOOL_CALL),

    // what the built-in tools say no with
    WORKSPACE_UNAVAILABLE("The workspace folder cannot be made or read.", Place.TOOL_CALL),
    PATH_OUTSIDE_WORKSPACE("The path leads out of the workspace.", Place.TOOL_CALL),
    BAD_PATH("No file can have this path.", Place.TOOL_CALL),
    FILE_NOT_FOUND("There is no such file or folder.", Place.TOOL_CALL),
    NOT_A_FILE("The path names something that is no regular file.", Place.TOOL_CALL),
    NOT_A_FOLDER("The path names something that is no folder.", Place.TOOL_CALL),
    UNREADABLE_FILE("The file cannot be read.", Place.TOOL_CALL),
    UNREADABLE_FOLDER("The folder cannot be read.", Place.TOOL_CALL),
    FILE_TOO_LARGE("The file is larger than may be read at once.", Place.TOOL_CALL),
    NOT_TEXT("The file is not text in this encoding.", Place.TOOL_CALL),
    FILE_EXISTS("Something is at the new place already.", Place.TOOL_CALL),
    UNWRITABLE_FILE("The file cannot be written, moved or deleted.", Place.TOOL_CALL),
    STRING_NOT_FOUND("The text to replace is not in the file.", Place.TOOL_CALL),
    STRING_NOT_UNIQUE("The text to replace is in the file more than once.", Place.TOOL_CALL),
    NOT_JSON("The text is no JSON.", Place.TOOL_CALL),
    NOT_BASE64("The text is no base64.", Place.TOOL_CALL),
    BAD_PATTERN("The pattern is none.", Place.TOOL_CALL),
    UNKNOWN_TIMEZONE("There is no such time zone.", Place.TOOL_CALL),
    BAD_URL("The URL is none, or not http or https.", Place.TOOL_CALL),
    BAD_HEADER("The request header may not be set.", Place.TOOL_CALL),
    ADDRESS_REFUSED("The host is private, local or reserved.", Place.TOOL_CALL),
    UNKNOWN_HOST("There is no such host.", Place.TOOL_CALL),
    HTTP_FAILED("The request or its response broke.", Place.TOOL_CALL),
    BAD_REDIRECT("The server redirects to what is no URL.", Place.TOOL_CALL),
    TOO_MANY_REDIRECTS("The servers redirect too often.", Place.TOOL_CALL),
    UNKNOWN_SECRET("No secret of this name is configured.", Place.TOOL_CALL),
    SECRET_REFUSED("The secret is not for this host, or would travel unencrypted.", Place.TOOL_CALL),
    TOOL_BUSY("As many calls of the tool run as may, and none ended in time.", Place.TOOL_CALL),
    TOOL_RATE_LIMITED("The tool was called as often as it may be for now.", Place.TOOL_CALL),
    CIRCUIT_OPEN("The tool failed so often that it is left alone for a while.", Place.TOOL_CALL),
    HTTP_STATUS("The server answered with a status that means failure.", Place.TOOL_CALL),
    UNKNOWN_REFERENCE("No content that this task may read has this reference.", Place.TOOL_CALL),
    CONTENT_GONE("The content was kept for its time and is deleted.", Place.TOOL_CALL),
    CONTENT_UNAVAILABLE("The content cannot be read now.", Place.TOOL_CALL),
    TASKS_UNAVAILABLE("Tasks cannot be looked at now.", Place.TOOL_CALL),
    ENV_NOT_SET("The variable is not set, or tools may not read it.", Place.TOOL_CALL),
    NOT_CONFIGURED("The operator has not set up what the tool needs.", Place.TOOL_CALL),
    PATH_OUTSIDE_MEMORY("The path leads out of memory.", Place.TOOL_CALL),
    DOCUMENT_NOT_FOUND("Memory has no such document.", Place.TOOL_CALL),
    DOCUMENT_TOO_LARGE("The document of memory would be larger than it may be.", Place.TOOL_CALL),
    MEMORY_FULL("Memory has as many documents, or as many bytes in them, as a namespace may have.", Place.TOOL_CALL),
    UNREADABLE_ANSWER("A server answered with something that makes no sense.", Place.TOOL_CALL),

    // model calls, and tasks that fail because of one
    RATE_LIMITED("The provider takes no more calls for now.", Place.MODEL_CALL, Place.TASK),
    MODEL_UNAVAILABLE("The provider is away, overloaded or broken.", Place.MODEL_CALL, Place.TASK),
    BAD_RESPONSE("The model's reply cannot be read, or does not fit into a record.", Place.MODEL_CALL, Place.TASK),
    AUTH_FAILED("The provider's key is missing, wrong or not allowed to do this.", Place.MODEL_CALL, Place.TASK),
    MODEL_NOT_FOUND("The provider has no such model.", Place.MODEL_CALL, Place.TASK),
    BAD_REQUEST("The provider rejected the request.", Place.MODEL_CALL, Place.TASK),
    CONTEXT_OVERFLOW("The conversation is longer than the model can read.", Place.MODEL_CALL, Place.TASK),
    CONTENT_FILTERED("A content filter stopped the request or the reply.", Place.MODEL_CALL, Place.TASK),
    REFUSED("The model itself declined to answer.", Place.MODEL_CALL, Place.TASK),
    OUTPUT_MISMATCH(
            "The model's answer does not have the form that its agent wants, also after it was told so.",
            Place.MODEL_CALL,
            Place.TASK),
    CANCELLED("The call was given up, because its task was cancelled.", Place.MODEL_CALL, Place.TASK),
    SCRIPT_ERROR("The scripted model's script makes no sense for this conversation.", Place.MODEL_CALL, Place.TASK),

    // tasks
    ITERATION_LIMIT("The task has made as many model calls as it may.", Place.TASK),
    TOOL_CALL_LIMIT("The model asked for more tool calls at once than a step may have.", Place.TASK),
    TRANSCRIPT_LIMIT("The conversation is as long as it may get.", Place.TASK),
    TOKEN_LIMIT("The task has used as many tokens as it may.", Place.TOOL_CALL, Place.TASK),
    COST_LIMIT("The task has cost as much as it may.", Place.TASK),
    SESSION_TOKEN_LIMIT("The tasks of the session have used as many tokens as they may together.", Place.TASK),
    SESSION_COST_LIMIT("The tasks of the session have cost as much as they may together.", Place.TASK),
    CAUSAL_DEPTH_LIMIT("Too many tasks led to this one, each starting the next.", Place.TOOL_CALL, Place.TASK),
    TASK_TIMEOUT("The task's life time is over.", Place.TASK),
    TOOL_CALL_FAILED("The tool call that was all the work of the task has failed.", Place.TASK),
    EXPIRED("The task had not been admitted when its expiry time came.", Place.TASK),
    PROCESS_RESTARTED(
            "The process has ended while the task was under way, and the settings say that it does not go on.",
            Place.TASK),
    ADMISSION_REJECTED(
            "All places were taken, or as many as the quota of its namespace allows, and the settings say that no more"
                    + " wait.",
            Place.TASK),
    DECLARED_FAILED("Someone declared the task as failed and gave no code.", Place.TASK),

    // anywhere
    TIMEOUT("No reply in time.", Place.TOOL_CALL, Place.MODEL_CALL, Place.TASK),
    INTERNAL_ERROR(
            "A defect of Millrace; the log has the details.",
            Place.DEAD_LETTER,
            Place.TOOL_CALL,
            Place.MODEL_CALL,
            Place.TASK);

    /** Where a code is found. */
    public enum Place {
        /** In the header {@code millrace-reason} of a dead letter. */
        DEAD_LETTER(DeadLetters.REASON),
        /** In the payload of a TOOL_CALL_FAILED; the task goes on. */
        TOOL_CALL("TOOL_CALL_FAILED"),
        /** In the payload of a MODEL_CALL_FAILED; the task fails with the same code. */
        MODEL_CALL("MODEL_CALL_FAILED"),
        /** In the payload of a TASK_FAILED. */
        TASK("TASK_FAILED");

        private final String label;

        Place(String label) {
            this.label = label;
        }

        /** The header or event type that carries the code. */
        public String label() {
            return label;
        }
    }

    private static final Map<String, ErrorCode> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(ErrorCode::code, code -> code));

    private final String code = name().toLowerCase(Locale.ROOT);
    private final String meaning;
    private final boolean ofDeadLetters;
    private final boolean ofToolCalls;
    private final boolean ofModelCalls;
    private final boolean ofTasks;

    ErrorCode(String meaning, Place... found) {
        this.meaning = meaning;
        List<Place> places = List.of(found);
        this.ofDeadLetters = places.contains(Place.DEAD_LETTER);
        this.ofToolCalls = places.contains(Place.TOOL_CALL);
        this.ofModelCalls = places.contains(Place.MODEL_CALL);
        this.ofTasks = places.contains(Place.TASK);
    }

    /** The word in events, headers and answers, lower snake case. */
    public String code() {
        return code;
    }

    /** What it means, in one sentence. */
    public String meaning() {
        return meaning;
    }

    /** Whether it is found at this place; each code is found at one at least. */
    public boolean foundIn(Place place) {
        return switch (place) {
            case DEAD_LETTER -> ofDeadLetters;
            case TOOL_CALL -> ofToolCalls;
            case MODEL_CALL -> ofModelCalls;
            case TASK -> ofTasks;
        };
    }

    /** The entry of this word; empty if the list has none. */
    public static Optional<ErrorCode> of(String code) {
        return Optional.ofNullable(BY_CODE.get(code));
    }
}
