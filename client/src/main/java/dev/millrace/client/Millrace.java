package dev.millrace.client;

import dev.millrace.api.AgentView;
import dev.millrace.api.Session;
import dev.millrace.api.SystemView;
import dev.millrace.api.Task;
import dev.millrace.api.TaskBulk;
import dev.millrace.api.ToolView;
import dev.millrace.api.UsageSums;
import java.net.URI;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Millrace that runs somewhere. Holds no state of its own: what it started goes on without it, and any other
 * process finds it by its id. For any thread.
 */
public final class Millrace {

    private final GatewayHttp http;
    private final String namespace;

    private Millrace(GatewayHttp http, String namespace) {
        this.http = http;
        this.namespace = namespace;
    }

    /** The one at this URL, such as {@code http://localhost:8080}. Asks nobody yet. */
    public static Millrace connect(String url) {
        return connect(url, options -> {});
    }

    /**
     * The same, with options.
     *
     * @throws IllegalArgumentException if the URL is none of http or https
     */
    public static Millrace connect(String url, Consumer<MillraceOptions> more) {
        URI uri = URI.create(url);
        if (uri.getHost() == null || !("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))) {
            throw new IllegalArgumentException("url: expected something like http://localhost:8080, found " + url);
        }
        MillraceOptions options = new MillraceOptions();
        more.accept(options);
        return new Millrace(new GatewayHttp(uri, options), options.namespace());
    }

    /** The tenant. */
    public String namespace() {
        return namespace;
    }

    /** Gives a task to the default agent. */
    public TaskHandle start(String text) {
        return start(text, more -> {});
    }

    /** The same, with more to say about it. Starting with the same id again makes no second task. */
    public TaskHandle start(String text, Consumer<TaskStart> more) {
        TaskStart start = new TaskStart();
        more.accept(start);
        return start(start.request(text, namespace));
    }

    /** A task as the API has it, with all that it can say. */
    public TaskHandle start(Task.Request request) {
        @Nullable
        String taskId =
                http.post(new Route("/v1/tasks"), request, Task.Accepted.class).taskId();
        if (taskId == null) { // what answers may be anything
            throw new MillraceException(
                    "The task was accepted, and no taskId given. Is that a Millrace gateway?", null);
        }
        return new TaskHandle(this, request.namespace() == null ? namespace : request.namespace(), taskId);
    }

    /** A task by its id. */
    public TaskHandle task(String taskId) {
        return new TaskHandle(this, namespace, taskId);
    }

    /** The tasks of the namespace, the newest first. */
    public Stream<Task> tasks() {
        return tasks(TaskSearch.ALL);
    }

    /** Those of them that are looked for. */
    public Stream<Task> tasks(TaskSearch search) {
        return http.items(
                search.on(new Route("/v1/tasks").with("namespace", namespace)), "cursor", "tasks", Task.class);
    }

    /**
     * Cancels, suspends or resumes many, or says what would become of them, as far as one answer goes.
     *
     * @return with {@code next}, if there may be more: what {@code cursor} of the next request is
     */
    public TaskBulk.Outcome bulk(TaskBulk.Request request) {
        return http.post(new Route("/v1/tasks/bulk").with("namespace", namespace), request, TaskBulk.Outcome.class);
    }

    /** An agent by its name. */
    public AgentHandle agent(String name) {
        return new AgentHandle(this, name, null);
    }

    /** All agents. */
    public List<AgentView> agents() {
        return http.get(new Route("/v1/agents"), AgentView.All.class).agents();
    }

    /** All tools. */
    public List<ToolView> tools() {
        return http.get(new Route("/v1/tools"), ToolView.All.class).tools();
    }

    /** A conversation by its id. */
    public SessionHandle session(String sessionId) {
        return new SessionHandle(this, sessionId);
    }

    /** Begins a conversation with an id that is drawn. */
    public SessionHandle newSession(@Nullable String title) {
        Session made =
                http.post(new Route("/v1/sessions"), new Session.Request(null, title, namespace, null), Session.class);
        return new SessionHandle(this, made.sessionId());
    }

    /** The conversations of the namespace; the one in which something happened last comes first. */
    public Stream<Session> sessions() {
        return http.items(new Route("/v1/sessions").with("namespace", namespace), "cursor", "sessions", Session.class);
    }

    public ApprovalClient approvals() {
        return new ApprovalClient(this, namespace);
    }

    public NamespaceMemory memory() {
        return new NamespaceMemory(this);
    }

    public RuleClient rules() {
        return new RuleClient(http);
    }

    public ScheduleClient schedules() {
        return new ScheduleClient(this);
    }

    public DeadLetterClient deadLetters() {
        return new DeadLetterClient(http);
    }

    public QueueClient queue() {
        return new QueueClient(this);
    }

    public EventClient events() {
        return new EventClient(this);
    }

    /** What the model calls of the namespace have used in the last day. */
    public UsageSums usage() {
        return GatewayHttp.as(
                http.get(new Route("/v1/usage").with("namespace", namespace)).path("total"), UsageSums.class);
    }

    /** The installation as a whole. */
    public SystemView system() {
        return http.get(new Route("/v1/system"), SystemView.class);
    }

    /** Requests as they are, for routes that have no method here. */
    public GatewayHttp http() {
        return http;
    }

    /** Opens a stream of any route. */
    public TaskFeed feed(Route stream) {
        return TaskFeed.open(this, stream, null);
    }
}
