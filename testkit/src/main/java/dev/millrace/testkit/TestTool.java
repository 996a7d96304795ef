package dev.millrace.testkit;

import dev.millrace.requests.Reply;
import dev.millrace.requests.Request;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A tool that the test plays. Answers are given in order, one per call, and the last one again and again; a tool
 * without any answers nothing, until its time-out. Exceptions of a function are failures with the code {@code
 * tool_error}.
 */
public final class TestTool {

    private static final String TOOLSET = "test";

    private final String name;
    private final List<Function<Map<String, @Nullable Object>, Optional<Reply>>> answers = new ArrayList<>();
    private final List<Map<String, @Nullable Object>> calls = new ArrayList<>();
    private Map<String, @Nullable Object> parameters = Map.of("type", "object");
    private ToolDefinition.SideEffects effects = ToolDefinition.SideEffects.DESTRUCTIVE;
    private ToolDefinition.Approval approval = new ToolDefinition.Approval.Never();
    private @Nullable Duration approvalExpiry;
    private Duration timeout = Duration.ofMillis(ToolDefinition.DEFAULT_TIMEOUT_MS);

    TestTool(String name) {
        this.name = name;
    }

    /** The JSON Schema of its arguments; at first any object. Calls with others never reach it. */
    public TestTool parameters(Map<String, @Nullable Object> schema) {
        this.parameters = schema;
        return this;
    }

    /** It changes nothing; at first it may destroy something. */
    public TestTool readOnly() {
        this.effects = ToolDefinition.SideEffects.READ_ONLY;
        return this;
    }

    /** A person has to agree to each call, within this time; afterwards it is rejected. */
    public TestTool needsApproval(Duration expiry) {
        this.approval = new ToolDefinition.Approval.Always();
        this.approvalExpiry = expiry;
        return this;
    }

    /** How long the machine waits for its answer; at first 30 s. */
    public TestTool timeout(Duration limit) {
        this.timeout = limit;
        return this;
    }

    /** Its next answer: JSON values, as {@link Reply.Completed} has them. */
    public TestTool returns(@Nullable Object result) {
        answers.add(params -> Optional.of(new Reply.Completed(result, 0)));
        return this;
    }

    /** Its next answer is that it failed. */
    public TestTool fails(String code, String error) {
        answers.add(params -> Optional.of(new Reply.Failed(code, error, 0)));
        return this;
    }

    /** It does not answer the next call, unless {@link TestTask#answerCall} does so later. */
    public TestTool isSilent() {
        answers.add(params -> Optional.empty());
        return this;
    }

    /** Its next answer follows from the arguments. */
    public TestTool answers(Function<Map<String, @Nullable Object>, @Nullable Object> work) {
        answers.add((Map<String, @Nullable Object> params) -> Optional.of(new Reply.Completed(work.apply(params), 0)));
        return this;
    }

    /** The arguments of the calls that have reached it, in order. */
    public List<Map<String, @Nullable Object>> calls() {
        return List.copyOf(calls);
    }

    ToolDefinition definition() {
        return new ToolDefinition(
                name,
                "A tool of the test.",
                JsonObject.of(parameters),
                TOOLSET,
                timeout.toMillis(),
                effects,
                approval,
                approvalExpiry == null ? null : approvalExpiry.toMillis(),
                ToolDefinition.OnExpiry.REJECT,
                null);
    }

    /** Empty = it does not answer. */
    Optional<Reply> call(Request request) {
        calls.add(request.params());
        if (answers.isEmpty()) {
            return Optional.empty();
        }
        try {
            return answers.get(Math.min(calls.size(), answers.size()) - 1).apply(request.params());
        } catch (RuntimeException e) {
            return Optional.of(new Reply.Failed("tool_error", String.valueOf(e.getMessage()), 0));
        }
    }
}
