package dev.millrace.standalone.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.millrace.api.AgentView;
import dev.millrace.api.Session;
import dev.millrace.api.Task;
import dev.millrace.client.Millrace;
import dev.millrace.client.MillraceException;
import dev.millrace.client.RequestRefusedException;
import dev.millrace.client.Route;
import dev.millrace.client.TaskSearch;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.standalone.cli.JsonRpcPeer.Call;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Millrace as an agent of the Agent Client Protocol, for one editor: a conversation is a session, a prompt a task of
 * it. Keeps nothing that the log does not have, but for what the editor has open. For any thread, but for
 * {@link #serve}.
 */
final class AcpAgent implements JsonRpcPeer.Handler {

    /** The only version of the protocol that is spoken. */
    private static final int PROTOCOL_VERSION = 1;

    private static final int AUTH_REQUIRED = -32000;
    private static final int NOT_FOUND = -32002;

    private static final String AGENT_OPTION = "agent";
    private static final String DEFAULT_AGENT = "general";

    private final GatewayClient client;
    private final Options options;
    private final PrintStream log;
    private final JsonRpcPeer peer;
    /** Of this process: ids of messages follow from it, so that one is sent again without being another. */
    private final String connection = UUID.randomUUID().toString();

    private final Map<String, Conversation> conversations = new ConcurrentHashMap<>();

    private volatile boolean initialized;
    private volatile boolean forms;
    private volatile boolean notices;

    /**
     * How it is called.
     *
     * @param agent for new tasks; {@code null} = the default one
     * @param sender what the person is called, which agents are shown; {@code null} = nothing
     * @param version of Millrace
     */
    record Options(@Nullable String agent, @Nullable String sender, String version) {}

    /** A conversation that the editor has open. */
    static final class Conversation {
        private final String id;
        private final String cwd;
        private final Map<AcpTurn, JsonNode> turns = new ConcurrentHashMap<>();
        private volatile @Nullable String agent;
        private volatile AcpTurn.@Nullable Standing question;

        Conversation(String id, String cwd, @Nullable String agent) {
            this.id = id;
            this.cwd = cwd;
            this.agent = agent;
        }

        String id() {
            return id;
        }

        String cwd() {
            return cwd;
        }

        /** Who gets new tasks; {@code null} = whom Millrace chooses. */
        @Nullable
        String agent() {
            return agent;
        }

        /** The task that waits for an answer, as far as it is known here. */
        AcpTurn.@Nullable Standing question() {
            return question;
        }
    }

    private record Initialized(
            int protocolVersion, Capabilities agentCapabilities, Info agentInfo, List<Object> authMethods) {}

    private record Capabilities(
            boolean loadSession,
            PromptCapabilities promptCapabilities,
            McpCapabilities mcpCapabilities,
            Map<String, Map<String, Object>> sessionCapabilities) {}

    private record PromptCapabilities(boolean image, boolean audio, boolean embeddedContext) {}

    private record McpCapabilities(boolean http, boolean sse) {}

    private record Info(String name, String title, String version) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Opened(@Nullable String sessionId, List<ConfigOption> configOptions) {}

    private record ConfigOption(
            String id,
            String name,
            String description,
            String category,
            String type,
            String currentValue,
            List<Choice> options) {}

    private record Choice(String value, String name, String description) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Listed(
            List<SessionInfo> sessions, @Nullable String nextCursor) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record SessionInfo(
            String sessionId, String cwd, @Nullable String title, String updatedAt) {}

    private record Stopped(String stopReason, Map<String, TaskMeta> _meta) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record TaskMeta(
            @Nullable String taskId, @Nullable String code) {}

    private record Update(String sessionId, AcpUpdate update) {}

    /** {@code out} gets the protocol, {@code log} all else. */
    AcpAgent(GatewayClient client, Options options, OutputStream out, PrintStream log) {
        this.client = client;
        this.options = options;
        this.log = log;
        this.peer = new JsonRpcPeer(out, log, this);
    }

    /** Does what the editor wants, until there is no more of it. */
    void serve(InputStream in) throws InterruptedException {
        peer.serve(in);
    }

    Millrace millrace() {
        return client.millrace();
    }

    JsonRpcPeer peer() {
        return peer;
    }

    @Nullable
    String sender() {
        return options.sender();
    }

    /** Who decides here, for the record. */
    String person() {
        return Objects.requireNonNullElseGet(options.sender(), () -> System.getProperty("user.name", "editor"));
    }

    /** Whether the editor can show a form. */
    boolean hasForms() {
        return forms;
    }

    /** A command that a person can paste into a shell. */
    String hint(String... words) {
        return client.hint(words);
    }

    void log(String line) {
        log.println("acp: " + line);
    }

    @Override
    public JsonRpcPeer.Work request(Call call) {
        if (call.method().equals("initialize")) {
            Initialized answer = initialize(call.params());
            return () -> answer;
        }
        if (!initialized) {
            throw new JsonRpcException(
                    JsonRpcException.INVALID_REQUEST, "expected initialize first, found " + call.method(), null);
        }
        return switch (call.method()) {
            case "session/new" -> () -> begin(call.params());
            case "session/load" -> () -> open(call.params(), true);
            case "session/resume" -> () -> open(call.params(), false);
            case "session/list" -> () -> list(call.params());
            case "session/close" -> () -> close(call.params());
            case "session/set_config_option" -> () -> choose(call.params());
            case "session/prompt" -> prompt(call);
            default ->
                throw new JsonRpcException(
                        JsonRpcException.METHOD_NOT_FOUND, "There is no method " + call.method() + " here", null);
        };
    }

    @Override
    public void notification(Call call) {
        JsonNode params = call.params().json();
        switch (call.method()) {
            case "session/cancel" -> {
                Conversation conversation =
                        conversations.get(params.path("sessionId").asText());
                if (conversation != null) {
                    conversation.turns.keySet().forEach(AcpTurn::cancel);
                }
            }
            case "$/cancel_request" -> {
                JsonNode request = params.path("requestId");
                for (Conversation conversation : conversations.values()) {
                    conversation.turns.forEach((turn, id) -> {
                        if (!id.isNull() && id.equals(request)) {
                            turn.cancel();
                        }
                    });
                }
            }
            default -> {
                // as the protocol wants it
            }
        }
    }

    @Override
    public JsonRpcException fault(RuntimeException failure) {
        return switch (failure) {
            case JsonRpcException known -> known;
            case MillraceException known -> fault(known, null);
            case CommandException known ->
                new JsonRpcException(JsonRpcException.INTERNAL_ERROR, String.valueOf(known.getMessage()), null);
            default -> {
                failure.printStackTrace(log);
                yield new JsonRpcException(JsonRpcException.INTERNAL_ERROR, "It broke: " + failure, null);
            }
        };
    }

    private JsonRpcException fault(MillraceException failure, @Nullable String taskId) {
        String words = String.valueOf(client.told("", failure).getMessage());
        String more = taskId == null ? words : words + " Task " + taskId + " goes on; loading the session shows it.";
        if (failure instanceof RequestRefusedException refused) {
            int code =
                    switch (refused.status()) {
                        case 401 -> AUTH_REQUIRED;
                        case 404 -> NOT_FOUND;
                        case 400, 413, 422 -> JsonRpcException.INVALID_PARAMS;
                        default -> JsonRpcException.INTERNAL_ERROR;
                    };
            return new JsonRpcException(code, more, Map.of("status", refused.status(), "code", refused.code()));
        }
        return new JsonRpcException(JsonRpcException.INTERNAL_ERROR, more, null);
    }

    @Override
    public void gone() {
        conversations.values().forEach(one -> one.turns.keySet().forEach(AcpTurn::close));
    }

    private Initialized initialize(JsonRpcParams params) {
        JsonNode version = params.json().path("protocolVersion");
        if (!version.isIntegralNumber() || version.bigIntegerValue().signum() < 0) {
            throw JsonRpcParams.expected("protocolVersion", "a whole number", version);
        }
        JsonNode can = params.json().path("clientCapabilities");
        forms = can.path("elicitation").hasNonNull("form");
        notices = can.path("session").hasNonNull("notices");
        initialized = true;
        return new Initialized(
                PROTOCOL_VERSION,
                new Capabilities(
                        true,
                        new PromptCapabilities(false, false, true),
                        new McpCapabilities(false, false),
                        Map.of("list", Map.of(), "resume", Map.of(), "close", Map.of())),
                new Info("millrace", "Millrace", options.version()),
                List.of());
    }

    private Object begin(JsonRpcParams params) {
        String cwd = place(params);
        List<AgentView> agents = agents();
        Conversation conversation = new Conversation(millrace().newSession(null).id(), cwd, options.agent());
        conversations.put(conversation.id(), conversation);
        return new Opened(conversation.id(), configOptions(conversation, agents));
    }

    /** The working directory; what else an editor says of the place is not for an agent that runs elsewhere. */
    private String place(JsonRpcParams params) {
        String cwd = params.absolutePath("cwd");
        if (!params.list("mcpServers").isEmpty()) {
            log("passes over mcpServers of the editor: tools run where Millrace does, see docs/acp.md");
        }
        if (!params.list("additionalDirectories").isEmpty()) {
            log("passes over additionalDirectories of the editor, see docs/acp.md");
        }
        return cwd;
    }

    private Object open(JsonRpcParams params, boolean replay) throws InterruptedException {
        String cwd = place(params);
        Session session = millrace().session(params.text("sessionId")).get();
        List<AgentView> agents = agents();
        List<Task> tasks = new ArrayList<>(millrace()
                .tasks(new TaskSearch(null, session.sessionId(), null, null, null))
                .toList());
        Collections.reverse(tasks);
        // who has the word in a conversation of several is not for the editor to say
        String agent = options.agent() != null
                        || tasks.isEmpty()
                        || !session.participants().isEmpty()
                ? options.agent()
                : tasks.get(tasks.size() - 1).taskType();
        Conversation conversation = new Conversation(session.sessionId(), cwd, agent);
        Conversation before = conversations.put(conversation.id(), conversation);
        if (before != null) {
            before.turns.keySet().forEach(AcpTurn::close);
        }
        for (Task task : tasks) {
            catchUp(conversation, task, replay);
        }
        return new Opened(null, configOptions(conversation, agents));
    }

    /** Tells what a task has done, if that is wanted, and follows it if it is not over. */
    private void catchUp(Conversation conversation, Task task, boolean replay) {
        if (!replay && Set.of("completed", "failed", "cancelled").contains(task.state())) {
            return;
        }
        boolean[] loud = {replay};
        AcpStory story = new AcpStory(true, notices, update -> {
            if (loud[0]) {
                tell(conversation, update);
            }
        });
        AcpTurn turn = new AcpTurn(this, conversation, story);
        AcpTurn.Standing standing = turn.past(task.taskId());
        if (standing.rest() != null) {
            rested(conversation, story, standing);
            return;
        }
        loud[0] = true;
        conversation.turns.put(turn, NullNode.getInstance());
        peer.threads().execute(() -> {
            try {
                rested(conversation, story, turn.follow(standing));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException e) {
                log("task " + task.taskId() + " is not followed any more: " + e.getMessage());
            } finally {
                conversation.turns.remove(turn);
            }
        });
    }

    /** A task rests that is no prompt's of this process. */
    private static void rested(Conversation conversation, AcpStory story, AcpTurn.Standing standing) {
        if (standing.rest() instanceof AcpStory.Rest.Asked) {
            conversation.question = standing;
        } else if (standing.rest() instanceof AcpStory.Rest.Failed failed) {
            story.note(words(failed));
        }
    }

    private static String words(AcpStory.Rest.Failed failed) {
        return "The task failed: " + failed.error() + " (" + failed.code() + ")";
    }

    private Object list(JsonRpcParams params) {
        String cwd = params.optionalPath("cwd").orElse(System.getProperty("user.dir", "/"));
        Route sessions = new Route("/v1/sessions")
                .with("namespace", millrace().namespace())
                .with("cursor", params.optionalText("cursor").orElse(null));
        Session.Page page = millrace().http().get(sessions, Session.Page.class);
        return new Listed(
                page.sessions().stream()
                        .map(one -> new SessionInfo(
                                one.sessionId(),
                                cwd,
                                one.title(),
                                Instant.ofEpochMilli(one.updatedAt()).toString()))
                        .toList(),
                page.next());
    }

    private Object close(JsonRpcParams params) {
        Conversation conversation = conversation(params);
        conversations.remove(conversation.id());
        conversation.turns.keySet().forEach(AcpTurn::cancel);
        return Map.of();
    }

    private Object choose(JsonRpcParams params) {
        Conversation conversation = conversation(params);
        String option = params.text("configId");
        if (!option.equals(AGENT_OPTION)) {
            throw JsonRpcException.params("configId: expected " + AGENT_OPTION + ", found " + option);
        }
        String name = params.text("value");
        List<AgentView> agents = agents();
        if (agents.stream().noneMatch(agent -> agent.name().equals(name))) {
            throw JsonRpcException.params(
                    "value: expected one of " + String.join(", ", names(agents)) + ", found " + name);
        }
        conversation.agent = name;
        return new Opened(null, configOptions(conversation, agents));
    }

    private JsonRpcPeer.Work prompt(Call call) {
        Conversation conversation = conversation(call.params());
        String text = AcpPrompt.text(call.params());
        String requestId = String.valueOf(call.id());
        String id = UUID.nameUUIDFromBytes(String.join("\n", connection, conversation.id(), requestId, text)
                        .getBytes(StandardCharsets.UTF_8))
                .toString();
        AcpTurn turn =
                new AcpTurn(this, conversation, new AcpStory(false, notices, update -> tell(conversation, update)));
        conversation.turns.put(turn, Objects.requireNonNullElse(call.id(), NullNode.getInstance()));
        return () -> {
            try {
                AcpTurn.Standing standing = turn.prompt(id, text);
                if (turn.isClosed()) {
                    throw new InterruptedException("the editor has gone");
                }
                conversation.question = standing.rest() instanceof AcpStory.Rest.Asked ? standing : null;
                return stopped(turn, standing);
            } catch (MillraceException e) {
                if (turn.isCancelled()) {
                    log("task " + turn.taskId() + " may go on: " + e.getMessage());
                    return new Stopped("cancelled", meta(turn.taskId(), null));
                }
                throw fault(e, turn.taskId());
            } finally {
                conversation.turns.remove(turn);
            }
        };
    }

    private static Stopped stopped(AcpTurn turn, AcpTurn.Standing standing) {
        if (turn.isCancelled()) {
            return new Stopped("cancelled", meta(standing.taskId(), null));
        }
        return switch (standing.rest()) {
            case AcpStory.Rest.Answered answered ->
                new Stopped(
                        "length".equals(answered.finishReason()) ? "max_tokens" : "end_turn",
                        meta(standing.taskId(), null));
            case AcpStory.Rest.Asked ignored -> new Stopped("end_turn", meta(standing.taskId(), null));
            case AcpStory.Rest.Cancelled ignored -> new Stopped("cancelled", meta(standing.taskId(), null));
            case AcpStory.Rest.Failed failed ->
                new Stopped(
                        limit(failed)
                                .orElseThrow(() -> new JsonRpcException(
                                        JsonRpcException.INTERNAL_ERROR,
                                        words(failed),
                                        new TaskMeta(standing.taskId(), failed.code()))),
                        meta(standing.taskId(), failed.code()));
            case null ->
                throw new JsonRpcException(
                        JsonRpcException.INTERNAL_ERROR,
                        "The stream of task " + standing.taskId() + " is over and told no end of it.",
                        null);
        };
    }

    /** The protocol's own word for a failure; empty if it has none. */
    private static Optional<String> limit(AcpStory.Rest.Failed failed) {
        for (ErrorCode code : ErrorCode.values()) {
            if (code.code().equals(failed.code())) {
                return Optional.ofNullable(
                        switch (code) {
                            case ITERATION_LIMIT, TOOL_CALL_LIMIT -> "max_turn_requests";
                            case TOKEN_LIMIT, SESSION_TOKEN_LIMIT, TRANSCRIPT_LIMIT, CONTEXT_OVERFLOW -> "max_tokens";
                            case REFUSED, CONTENT_FILTERED -> "refusal";
                            default -> null;
                        });
            }
        }
        return Optional.empty();
    }

    private static Map<String, TaskMeta> meta(@Nullable String taskId, @Nullable String code) {
        return Map.of("millrace", new TaskMeta(taskId, code));
    }

    private Conversation conversation(JsonRpcParams params) {
        String id = params.text("sessionId");
        Conversation conversation = conversations.get(id);
        if (conversation == null) {
            throw new JsonRpcException(
                    NOT_FOUND,
                    "sessionId: expected one that was made, loaded or resumed by this process, found "
                            + Progress.cut(id),
                    null);
        }
        return conversation;
    }

    private List<AgentView> agents() {
        List<AgentView> agents = millrace().agents();
        String wanted = options.agent();
        if (wanted != null && agents.stream().noneMatch(agent -> agent.name().equals(wanted))) {
            throw new JsonRpcException(
                    JsonRpcException.INTERNAL_ERROR,
                    "--agent: expected one of " + String.join(", ", names(agents)) + ", found " + wanted,
                    null);
        }
        return agents;
    }

    private static List<String> names(List<AgentView> agents) {
        return agents.stream().map(AgentView::name).sorted().toList();
    }

    private static List<ConfigOption> configOptions(Conversation conversation, List<AgentView> agents) {
        if (agents.isEmpty()) {
            return List.of();
        }
        String chosen = conversation.agent();
        return List.of(new ConfigOption(
                AGENT_OPTION,
                "Agent",
                "Who gets the next prompt",
                "mode",
                "select",
                chosen == null ? DEFAULT_AGENT : chosen,
                agents.stream()
                        .map(agent -> new Choice(agent.name(), agent.name(), agent.description()))
                        .toList()));
    }

    private void tell(Conversation conversation, AcpUpdate update) {
        peer.tell("session/update", new Update(conversation.id(), update));
    }
}
