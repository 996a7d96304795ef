package dev.millrace.agent.config;

import dev.millrace.agent.Agents;
import dev.millrace.agent.Reserved;
import dev.millrace.agent.core.ContextWindow;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.files.RuleBook;
import dev.millrace.agent.files.RuleFile;
import dev.millrace.agent.files.RuleFolder;
import dev.millrace.agent.files.ScheduleFolder;
import dev.millrace.agent.kafka.Definitions;
import dev.millrace.agent.kafka.InstanceEvents;
import dev.millrace.agent.kafka.LaneStates;
import dev.millrace.agent.kafka.SharedRates;
import dev.millrace.agent.kafka.ToolsetWatch;
import dev.millrace.agent.knowledge.ServedPassages;
import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.agent.rest.AgentCatalogue;
import dev.millrace.agent.rest.Catalogue;
import dev.millrace.agent.rest.SystemReport;
import dev.millrace.agent.rest.TaskNotes;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.schedule.ScheduleBook;
import dev.millrace.agent.schedule.ScheduleLimits;
import dev.millrace.agent.telemetry.MeteredModel;
import dev.millrace.agent.thinker.LiveText;
import dev.millrace.agent.topology.AdmissionSettings;
import dev.millrace.agent.topology.LocalTools;
import dev.millrace.agent.topology.Occupancy;
import dev.millrace.agent.topology.ReplySecrets;
import dev.millrace.agent.topology.TaskReplay;
import dev.millrace.agent.topology.TaskShellSettings;
import dev.millrace.agent.topology.TaskStreams;
import dev.millrace.api.SystemView;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.InternalSecret;
import dev.millrace.kafka.config.ClientsConfig;
import dev.millrace.kafka.config.TopicsConfig;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.config.LanguageModels;
import dev.millrace.llm.config.LlmConfig;
import dev.millrace.llm.scripted.InvalidScriptException;
import dev.millrace.schemas.Ids;
import dev.millrace.telemetry.Telemetry;
import dev.millrace.telemetry.config.ProcessReport;
import dev.millrace.telemetry.config.TelemetryConfig;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.runtime.configuration.ConfigurationException;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.eclipse.microprofile.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns configuration into the service's parts. */
public class Wiring {

    private static final Logger LOGGER = LoggerFactory.getLogger(Wiring.class);
    private static final int RANDOM_DIGITS = 8;

    @Produces
    @Singleton
    Agents agents(AgentConfig agent) {
        return BuiltInAgents.agents(
                agent.defaultAgent().filter(name -> !name.isBlank()).orElse(null));
    }

    @Produces
    @Singleton
    Rules rules(AgentConfig agent) {
        AgentConfig.Rules rules = agent.rules();
        return new Rules(
                RuleFile.builtIn(),
                new Rules.Bounds(rules.enabled(), rules.perSession(), rules.perRule(), rules.newSessions()));
    }

    @Produces
    @Singleton
    RuleFolder ruleFolder(AgentConfig agent, Rules rules) {
        return new RuleFolder(agent.rules().dir(), rules, agent.agentsReload());
    }

    @Produces
    @Singleton
    ScheduleFolder scheduleFolder(AgentConfig agent, ScheduleBook book, AgentRuntime runtime) {
        return new ScheduleFolder(
                agent.schedules().dir(), book, () -> runtime.notReady().isEmpty(), agent.agentsReload());
    }

    @Produces
    @Singleton
    AgentCatalogue agentCatalogue(Agents agents, AgentRuntime runtime) {
        return new Catalogue(agents, runtime.tools(), runtime.routing(), runtime::problems);
    }

    @Produces
    @Singleton
    LanguageModel languageModel(LlmConfig config, Telemetry telemetry) {
        try {
            LanguageModel model = LanguageModels.fromEnvironment(config, System.getenv());
            return telemetry.on() ? new MeteredModel(model, telemetry.modelCalls()) : model;
        } catch (IllegalArgumentException | InvalidScriptException e) {
            // of this one Quarkus prints the message and no stack trace: it is for the operator, and says it all
            throw new ConfigurationException(e.getMessage());
        }
    }

    @Produces
    @Singleton
    SharedRates rates(LlmConfig llm, TopicsConfig topics, Config config, MeterRegistry metrics) {
        SharedRates rates =
                new SharedRates(ClientsConfig.of(config), topics.topics().rates(), LanguageModels.keys(llm));
        for (String key : rates.keys()) {
            Gauge.builder(
                            "millrace.llm.rate.requests",
                            rates,
                            all -> all.used(key).requests())
                    .description("Requests of all instances that count against the limit of a provider's key")
                    .tag("key", key)
                    .register(metrics);
            Gauge.builder(
                            "millrace.llm.rate.tokens",
                            rates,
                            all -> all.used(key).tokens())
                    .description("Tokens of all instances that count against the limit of a provider's key")
                    .tag("key", key)
                    .register(metrics);
            FunctionCounter.builder(
                            "millrace.llm.rate.granted",
                            rates,
                            all -> all.used(key).granted())
                    .description("Requests of this instance that the limit of a provider's key had room for")
                    .tag("key", key)
                    .register(metrics);
            FunctionCounter.builder(
                            "millrace.llm.rate.refused",
                            rates,
                            all -> all.used(key).refused())
                    .description("How often this instance asked and there was no room")
                    .tag("key", key)
                    .register(metrics);
        }
        return rates;
    }

    @Produces
    @Singleton
    ModelDispatcher dispatcher(LanguageModel model, LlmConfig config, SharedRates rates, MeterRegistry metrics) {
        ModelDispatcher dispatcher = new ModelDispatcher(model, LanguageModels.limits(config), rates);
        Gauge.builder("millrace.llm.calls.held.back", dispatcher, ModelDispatcher::heldBack)
                .description("Model calls that wait because there is enough of their provider's key for now")
                .register(metrics);
        Gauge.builder("millrace.llm.calls.queued", dispatcher, ModelDispatcher::queued)
                .description("Model calls that wait for a permit")
                .register(metrics);
        Gauge.builder("millrace.llm.calls.running", dispatcher, ModelDispatcher::running)
                .description("Permits for model calls that are in use")
                .register(metrics);
        FunctionCounter.builder("millrace.llm.fallbacks", dispatcher, ModelDispatcher::fallbacks)
                .description("How often a fallback model was asked, since another one failed for good")
                .register(metrics);
        return dispatcher;
    }

    @Produces
    @Singleton
    AgentRuntime runtime(RuntimeSettings settings, Config config, AgentRuntime.Parts parts, MeterRegistry metrics) {
        AgentRuntime runtime = new AgentRuntime(ClientsConfig.of(config), settings.value(), parts);
        FunctionCounter.builder("millrace.agent.records.skipped", runtime, AgentRuntime::skipped)
                .description("Records of definitions, memory and the journal that could not be used and were left out")
                .register(metrics);
        FunctionCounter.builder("millrace.agent.tokens.sent", runtime, AgentRuntime::tokensSent)
                .description("Pieces of live text that were put on their topic")
                .register(metrics);
        FunctionCounter.builder("millrace.agent.tokens.lost", runtime, AgentRuntime::tokensLost)
                .description("Pieces of live text that could not be stored; the replies themselves are not affected")
                .register(metrics);
        ToolsetWatch toolsets = runtime.toolsets();
        Set<String> measured = new HashSet<>();
        toolsets.whenNew(toolset -> {
            if (measured.add(toolset)) {
                measure(toolset, toolsets, metrics);
            }
        });
        return runtime;
    }

    private static void measure(String toolset, ToolsetWatch watch, MeterRegistry metrics) {
        // a worker in the same process tells as well
        if (metrics.find("millrace.requests.backlog").tag("toolset", toolset).gauge() == null) {
            Gauge.builder("millrace.requests.backlog", watch, all -> value(all.backlog(toolset)))
                    .description(
                            "Requests on the topic that nobody has finished, as the broker says; NaN = it has not said")
                    .tag("toolset", toolset)
                    .register(metrics);
        }
        Gauge.builder("millrace.requests.workers", watch, all -> value(all.workers(toolset)))
                .description("Workers that read the request topic in a group; NaN = not known")
                .tag("toolset", toolset)
                .register(metrics);
    }

    private static double value(OptionalLong known) {
        return known.isPresent() ? known.getAsLong() : Double.NaN;
    }

    @Produces
    @Singleton
    ScheduleBook scheduleBook(AgentRuntime runtime, AgentConfig agent) {
        return runtime.scheduleBook(
                new ScheduleLimits(agent.schedules().max(), agent.schedules().shortestInterval()));
    }

    @Produces
    @Singleton
    RuleBook ruleBook(AgentRuntime runtime) {
        return runtime.ruleBook();
    }

    @Produces
    @Singleton
    Occupancy occupancy() {
        return new Occupancy();
    }

    @Produces
    @Singleton
    LaneStates laneStates(Config config, TopicsConfig topics) {
        return new LaneStates(ClientsConfig.of(config), topics.topics(), topics.prefix() + "agent", Clock.systemUTC());
    }

    void close(@Disposes LaneStates lanes) {
        lanes.close();
    }

    @Produces
    @Singleton
    SystemReport systemReport(
            AgentRuntime runtime,
            RuntimeSettings settings,
            Occupancy occupancy,
            LaneStates lanes,
            ModelDispatcher dispatcher,
            ProcessReport process) {
        return new SystemReport(
                new SystemReport.Itself(
                        settings.value().instance(),
                        () -> service(process.now()),
                        () -> new SystemView.Models(
                                dispatcher.permits(),
                                dispatcher.running(),
                                dispatcher.queued(),
                                dispatcher.heldBack())),
                occupancy,
                lanes,
                new SystemReport.Served(runtime.tools(), runtime.toolsets()));
    }

    private static SystemView.Service service(ProcessReport.State process) {
        return new SystemView.Service(
                process.name(),
                process.instance(),
                process.version(),
                process.ready(),
                process.reasons(),
                process.startedMs());
    }

    @Produces
    @Singleton
    TaskNotes taskNotes(TaskProjection projection, AgentRuntime runtime) {
        return new TaskNotes(projection, runtime.tools(), runtime.toolsets());
    }

    @Produces
    @Singleton
    TaskReplay taskReplay(AgentConfig agent, AgentRuntime runtime, Agents agents) {
        return new TaskReplay(limits(agent), runtime.routing(), agents);
    }

    @Produces
    @Singleton
    AgentRuntime.Parts parts(
            Agents agents,
            ModelDispatcher dispatcher,
            Instance<LocalTools> localTools,
            TaskProjection projection,
            AgentRuntime.Tracing tracing,
            Rules rules,
            ServedPassages passages,
            AgentConfig config,
            Occupancy occupancy,
            MeterRegistry metrics) {
        Gauge.builder("millrace.agent.tasks.active", occupancy, Occupancy::active)
                .description("Tasks that work")
                .register(metrics);
        Gauge.builder("millrace.agent.tasks.waiting", occupancy, Occupancy::waiting)
                .description("Tasks that wait for admission")
                .register(metrics);
        return new AgentRuntime.Parts(
                agents,
                dispatcher,
                localTools.isResolvable() ? localTools.get() : LocalTools.NONE,
                new ProjectedSessions(projection),
                new MicrometerShellMetrics(metrics),
                occupancy,
                tracing,
                rules,
                passages,
                reserved(config));
    }

    private static Reserved reserved(AgentConfig config) {
        List<Reserved.Entry> entries = new ArrayList<>();
        config.reserved().forEach((name, entry) -> {
            try {
                entries.add(new Reserved.Entry(
                        entry.tools().orElse(List.of()),
                        entry.agents().orElse(List.of()),
                        entry.models().orElse(List.of()),
                        entry.namespaces()));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("millrace.agent.reserved." + name + ": " + e.getMessage());
            }
        });
        return new Reserved(entries);
    }

    @Produces
    @Singleton
    ServedPassages passages(AgentConfig config, InternalSecret secret) {
        return new ServedPassages(new AgentClient(
                "the knowledge service",
                config.knowledge().url(),
                config.knowledge().timeout(),
                secret));
    }

    void close(@Disposes ServedPassages passages) {
        passages.close();
    }

    @Produces
    @Singleton
    AgentRuntime.Tracing tracing(Telemetry telemetry, TelemetryConfig config) {
        return new AgentRuntime.Tracing(telemetry, config.content());
    }

    /** What the configuration says, checked. */
    record RuntimeSettings(AgentRuntime.Settings value) {}

    @Produces
    @Singleton
    RuntimeSettings runtimeSettings(TopicsConfig topics, AgentConfig agent, Config config) {
        AgentConfig.Task task = agent.task();
        return new RuntimeSettings(new AgentRuntime.Settings(
                topics.settings(),
                limits(agent),
                agent.approval().defaultExpiry(),
                new Definitions.AgentFiles(agent.agentsDir(), agent.agentsReload()),
                agent.memoryIndexBytes(),
                new TaskShellSettings(
                        topics.topics(),
                        topics.partitions(),
                        agent.seenRetention(),
                        task.endedRetention(),
                        agent.reflection().enabled(),
                        admission(agent),
                        agent.session().retention(),
                        agent.lanes().priority(),
                        new TaskShellSettings.Background(
                                agent.background().timeout(), agent.background().progressInterval()),
                        task.onRestart(),
                        ReplySecrets.of(agent.replySecret().orElse(List.of()), agent.replyTokenRequired())),
                new TaskStreams.Settings(
                        topics.topics(),
                        topics.prefix() + "agent",
                        agent.stateDir(),
                        agent.streamThreads(),
                        agent.commitInterval(),
                        agent.lanes().priority()),
                instance(agent, config),
                agent.shutdownGrace(),
                new LiveText.Settings(agent.tokens().enabled(), agent.tokens().batch())));
    }

    private static InstanceEvents.Settings instance(AgentConfig agent, Config config) {
        return new InstanceEvents.Settings(
                agent.instance().orElseGet(Wiring::instanceName),
                config.getOptionalValue("quarkus.application.version", String.class)
                        .orElse("unknown"),
                agent.heartbeatInterval());
    }

    /**
     * The host and the last part of an id, which is random; its first part is the time, which two instances may share.
     */
    static String instanceName() {
        String id = Ids.random();
        return hostName() + '-' + id.substring(id.length() - RANDOM_DIGITS);
    }

    /** As the operating system or the container engine says it; asking the network may take seconds. */
    private static String hostName() {
        String name = System.getenv("HOSTNAME");
        return name == null || name.isBlank() ? "agent" : name;
    }

    private static AdmissionSettings admission(AgentConfig agent) {
        Map<String, AdmissionSettings.Quota> quotas = new HashMap<>();
        agent.quotas()
                .forEach((namespace, quota) -> quotas.put(
                        namespace,
                        new AdmissionSettings.Quota(
                                quota.activeTasks().orElse(null),
                                quota.queuedTasks().orElse(null))));
        return new AdmissionSettings(
                agent.admission().maxActiveTasks(), agent.admission().whenFull(), quotas);
    }

    private static MachineLimits limits(AgentConfig agent) {
        AgentConfig.Task task = agent.task();
        return new MachineLimits(
                new TaskLimits(
                        task.maxIterations(),
                        task.maxToolCallsPerStep(),
                        task.maxTranscriptChars(),
                        task.maxTokens(),
                        task.maxCostMicros().orElse(TaskLimits.NONE),
                        task.maxLifeTime().toMillis(),
                        task.maxCausalDepth()),
                agent.session().maxTokens().orElse(TaskLimits.NONE),
                agent.session().maxCostMicros().orElse(TaskLimits.NONE),
                task.modelCallTimeout().toMillis(),
                task.toolCallGrace().toMillis(),
                new ContextWindow.Rules(
                        agent.compaction().threshold(), agent.compaction().kept()));
    }

    void start(
            @Observes @Priority(Interceptor.Priority.APPLICATION + 100) StartupEvent event,
            AgentRuntime runtime,
            SharedRates rates,
            RuleFolder rules,
            ScheduleFolder schedules,
            LanguageModel model) {
        LOGGER.info("Model calls are answered by: {}", model.description());
        rates.start();
        rules.start();
        runtime.start();
        schedules.start();
    }

    void stop(
            @Observes ShutdownEvent event,
            AgentRuntime runtime,
            SharedRates rates,
            RuleFolder rules,
            ScheduleFolder schedules) {
        rules.close();
        schedules.close();
        runtime.close(); // with it the calls that ask for their rates
        rates.close();
    }
}
