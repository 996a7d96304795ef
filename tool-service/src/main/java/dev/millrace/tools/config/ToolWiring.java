package dev.millrace.tools.config;

import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.config.ClientsConfig;
import dev.millrace.kafka.config.TopicsConfig;
import dev.millrace.requests.DirectCalls;
import dev.millrace.requests.RequestWorker;
import dev.millrace.requests.WorkerSettings;
import dev.millrace.schemas.Redaction;
import dev.millrace.schemas.Topics;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tools.CallGuards;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.DefinitionFiles;
import dev.millrace.tools.TimeTools;
import dev.millrace.tools.ToolExecutor;
import dev.millrace.tools.ToolRegistry;
import dev.millrace.tools.ToolThreads;
import dev.millrace.tools.content.LargeResults;
import dev.millrace.tools.content.ReadResult;
import dev.millrace.tools.content.TopicContent;
import dev.millrace.tools.env.EnvTools;
import dev.millrace.tools.env.TopicVariables;
import dev.millrace.tools.files.FileTools;
import dev.millrace.tools.files.OperatorPlaces;
import dev.millrace.tools.files.SearchTools;
import dev.millrace.tools.files.Workspace;
import dev.millrace.tools.http.HttpCalls;
import dev.millrace.tools.http.HttpTools;
import dev.millrace.tools.java.JavaTools;
import dev.millrace.tools.mcp.McpTools;
import dev.millrace.tools.secrets.Secrets;
import dev.millrace.tools.skills.Skill;
import dev.millrace.tools.skills.SkillFolder;
import dev.millrace.tools.skills.UseSkill;
import dev.millrace.tools.text.TextTools;
import dev.millrace.tools.webhook.WebhookDelivery;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;
import org.eclipse.microprofile.health.Readiness;

/** Turns configuration into the service's parts. */
public class ToolWiring {

    @Produces
    @Singleton
    GuardedHttp http(ToolsConfig config) {
        return new GuardedHttp(config.http().limits());
    }

    void closeHttp(@Disposes GuardedHttp http) throws IOException {
        http.close();
    }

    @Produces
    @Singleton
    TopicContent content(TopicsConfig topics, Config config) {
        return new TopicContent(ClientsConfig.of(config), topics.topics());
    }

    void closeContent(@Disposes TopicContent content) {
        content.close();
    }

    @Produces
    @Singleton
    TopicVariables variables(ToolsConfig tools, TopicsConfig topics, Config config) {
        return new TopicVariables(
                ClientsConfig.of(config),
                topics.topics(),
                Clock.systemUTC(),
                tools.env().maxSize().asLongValue());
    }

    void closeVariables(@Disposes TopicVariables variables) {
        variables.close();
    }

    @Produces
    @Singleton
    Secrets secrets(ToolsConfig config) {
        return Policies.secrets(config);
    }

    @Produces
    @Singleton
    HttpCalls httpCalls(GuardedHttp http, Secrets secrets) {
        return new HttpCalls(http, secrets);
    }

    @Produces
    @Singleton
    ToolRegistry registry(
            ToolsConfig config,
            HttpCalls http,
            TopicContent content,
            TopicVariables variables,
            McpTools mcp,
            JavaToolBeans java,
            OperatorTools operator,
            Config all) {
        try {
            OperatorPlaces.requireApart(config.workspace(), ConfiguredPlaces.of(config, all));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("millrace.tools.workspace: " + e.getMessage(), e);
        }
        Function<ToolContext, Workspace> workspaces = config.workspacePerNamespace()
                ? Workspace.ofNamespaces(config.workspace())
                : Workspace.shared(config.workspace());
        int maxFileBytes = Math.toIntExact(config.maxFileSize().asLongValue());
        List<CallableTool> tools = new ArrayList<>(JavaTools.withoutCircuit(new HttpTools(http)));
        for (Object builtIn : List.of(
                new TimeTools(Clock.systemUTC()),
                new FileTools(workspaces, maxFileBytes),
                new SearchTools(workspaces),
                new TextTools(),
                new EnvTools(variables, config.env().allow().orElse(List.of()), System::getenv),
                new ReadResult(content, Math.toIntExact(config.maxResultSize().asLongValue())))) {
            tools.addAll(JavaTools.of(builtIn));
        }
        List<Skill> skills = SkillFolder.read(config.skillsDir());
        if (!skills.isEmpty()) {
            tools.add(new UseSkill(skills));
        }
        tools.addAll(operator.tools());
        tools.addAll(java.tools());
        return new ToolRegistry(tools, List.of(mcp), Policies.of(config));
    }

    @Produces
    @Singleton
    ToolThreads threads(ToolsConfig tools, MeterRegistry meters) {
        ToolThreads threads = new ToolThreads(tools.maxStuck());
        Gauge.builder("millrace.tools.stuck", threads, ToolThreads::stuck)
                .description("Threads of tool calls that go on although their time is over and they were interrupted")
                .strongReference(true)
                .register(meters);
        return threads;
    }

    @Produces
    @Singleton
    CallGuards guards(ToolsConfig tools, ToolThreads threads) {
        return new CallGuards(
                Policies.of(tools),
                tools.circuit().maxFailures(),
                tools.circuit().rest(),
                threads);
    }

    @Produces
    @Singleton
    ToolExecutor executor(
            ToolsConfig tools,
            ToolRegistry registry,
            CallGuards guards,
            TopicContent content,
            Secrets secrets,
            MeterRegistry meters) {
        return new ToolExecutor(
                registry,
                guards,
                new LargeResults(
                        content,
                        Math.toIntExact(tools.maxResultSize().asLongValue()),
                        Math.toIntExact(tools.content().maxSize().asLongValue())),
                secrets,
                meters);
    }

    @Produces
    @Singleton
    WebhookDelivery webhooks(ToolsConfig tools, GuardedHttp http, Redaction redaction) {
        ToolsConfig.Webhook webhook = tools.webhook();
        return new WebhookDelivery(
                http,
                Policies.webhookSecrets(webhook),
                redaction,
                new WebhookDelivery.Limits(
                        webhook.budget(), webhook.attemptTimeout(), webhook.retryDelay(), webhook.maxRetryDelay()));
    }

    @Produces
    @Singleton
    ToolRuntime runtime(
            ToolsConfig tools,
            TopicsConfig topicsConfig,
            Config config,
            ToolRegistry registry,
            ToolExecutor executor,
            WebhookDelivery webhooks,
            MeterRegistry meters) {
        Topics topics = topicsConfig.topics();
        ClientSettings kafka = ClientsConfig.of(config);
        WorkerSettings calls = WorkerSettings.of(kafka, topics, Topics.BUILT_IN_TOOLSET, tools.maxConcurrent())
                .with(tools.staleAfter(), tools.shutdownGrace());
        WorkerSettings notices = WorkerSettings.of(
                        kafka, topics, "webhook", tools.webhook().maxConcurrent())
                .with(tools.staleAfter(), Duration.ZERO);
        return new ToolRuntime(
                kafka,
                topics,
                topicsConfig.settings(),
                registry,
                DefinitionFiles.read(tools.definitions().orElse(List.of())),
                () -> RequestWorker.start(calls, executor, meters),
                () -> RequestWorker.startNotices(notices, webhooks, meters));
    }

    /** For a process in which tasks run as well. */
    @Produces
    @Singleton
    DirectCalls directCalls(ToolsConfig tools, ToolRegistry registry, ToolExecutor executor) {
        return new DirectCalls(name -> registry.find(name).isPresent(), executor, tools.maxConcurrent());
    }

    void close(@Disposes DirectCalls calls) {
        calls.close();
    }

    void start(@Observes @Priority(Interceptor.Priority.APPLICATION + 200) StartupEvent event, ToolRuntime runtime) {
        runtime.start();
    }

    void stop(@Observes ShutdownEvent event, ToolRuntime runtime) {
        runtime.close();
    }

    @Produces
    @Readiness
    HealthCheck ready(ToolRuntime runtime, TopicContent content, TopicVariables variables) {
        return () -> runtime.notReady()
                .or(content::problem)
                .or(variables::problem)
                .map(why -> HealthCheckResponse.named("tools")
                        .down()
                        .withData("waitingFor", why)
                        .build())
                .orElseGet(() -> HealthCheckResponse.up("tools"));
    }

    @Produces
    @Liveness
    HealthCheck alive(ToolThreads threads) {
        return () -> threads.isFull()
                ? HealthCheckResponse.named("tool-threads")
                        .down()
                        .withData("stuck", threads.describe())
                        .build()
                : HealthCheckResponse.up("tool-threads");
    }
}
