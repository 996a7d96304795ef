package dev.millrace.knowledge.config;

import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.ForgottenFollower;
import dev.millrace.kafka.config.ClientsConfig;
import dev.millrace.kafka.config.TopicsConfig;
import dev.millrace.knowledge.core.ChunkSettings;
import dev.millrace.knowledge.embed.Embedder;
import dev.millrace.knowledge.embed.LocalEmbedder;
import dev.millrace.knowledge.embed.RemoteEmbedder;
import dev.millrace.knowledge.entities.EntityExtraction;
import dev.millrace.knowledge.entities.EntityGraph;
import dev.millrace.knowledge.entities.EntityModel;
import dev.millrace.knowledge.entities.EntitySearch;
import dev.millrace.knowledge.index.EntityIndex;
import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.knowledge.index.Search;
import dev.millrace.knowledge.ingest.Fetcher;
import dev.millrace.knowledge.ingest.Forgetting;
import dev.millrace.knowledge.ingest.Ingest;
import dev.millrace.knowledge.ingest.MemoryIngest;
import dev.millrace.knowledge.kafka.KnowledgeFollower;
import dev.millrace.knowledge.kafka.KnowledgeWriter;
import dev.millrace.knowledge.kafka.MemoryReader;
import dev.millrace.knowledge.tools.EntityNotices;
import dev.millrace.knowledge.tools.EntitySearchTool;
import dev.millrace.knowledge.tools.IngestNotices;
import dev.millrace.knowledge.tools.KnowledgeNotices;
import dev.millrace.knowledge.tools.KnowledgeTools;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.config.LanguageModels;
import dev.millrace.llm.config.LlmConfig;
import dev.millrace.llm.scripted.InvalidScriptException;
import dev.millrace.requests.NamespaceFolder;
import dev.millrace.requests.RequestWorker;
import dev.millrace.requests.WorkerSettings;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Topics;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.runtime.configuration.ConfigurationException;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/** Turns configuration into the service's parts. */
public class KnowledgeWiring {

    private static final String NAME = "knowledge";
    private static final String PREFIX = "millrace.knowledge.";
    private static final int CONNECT_TIMEOUT_MS = 10_000;
    private static final int RESPONSE_TIMEOUT_MS = 30_000;

    @Produces
    @Singleton
    Embedder embedder(KnowledgeConfig config) {
        KnowledgeConfig.Embedding embedding = config.embedding();
        KnowledgeConfig.Entities entities = config.entities();
        return switch (embedding.provider().toLowerCase(Locale.ROOT)) {
            case "local" ->
                new LocalEmbedder(
                        atLeastOne("embedding.threads", embedding.threads()),
                        config.stateDir().resolve("native"),
                        thresholds(LocalEmbedder.THRESHOLDS, embedding, entities));
            case "openai" -> remote(RemoteEmbedder.Api.OPENAI, embedding, entities);
            case "ollama" -> remote(RemoteEmbedder.Api.OLLAMA, embedding, entities);
            default ->
                throw new IllegalArgumentException(
                        PREFIX + "embedding.provider: expected local, openai or ollama, found " + embedding.provider());
        };
    }

    private static int atLeastOne(String key, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(PREFIX + key + ": expected 1 or more, found " + value);
        }
        return value;
    }

    private static Embedder remote(
            RemoteEmbedder.Api api, KnowledgeConfig.Embedding embedding, KnowledgeConfig.Entities entities) {
        URI url = embedding
                .url()
                .orElseThrow(() -> new IllegalArgumentException(PREFIX + "embedding.url: expected a URL, found none"));
        String model = embedding
                .model()
                .orElseThrow(
                        () -> new IllegalArgumentException(PREFIX + "embedding.model: expected a name, found none"));
        return new RemoteEmbedder(new RemoteEmbedder.Server(
                api,
                url,
                model,
                embedding.apiKey().orElse(null),
                thresholds(RemoteEmbedder.THRESHOLDS, embedding, entities),
                embedding.timeout()));
    }

    private static Embedder.Thresholds thresholds(
            Embedder.Thresholds measured, KnowledgeConfig.Embedding embedding, KnowledgeConfig.Entities entities) {
        return new Embedder.Thresholds(
                embedding.threshold().orElse(measured.hit()),
                entities.confirm().orElse(measured.confirm()),
                entities.merge().orElse(measured.merge()));
    }

    /** The models that this service asks: the same keys and variables as everywhere. */
    @Produces
    @Singleton
    ModelDispatcher dispatcher(LlmConfig config) {
        try {
            return new ModelDispatcher(
                    LanguageModels.fromEnvironment(config, System.getenv()), LanguageModels.limits(config));
        } catch (IllegalArgumentException | InvalidScriptException e) {
            // of this one Quarkus prints the message and no stack trace: it is for the operator, and says it all
            throw new ConfigurationException(e.getMessage());
        }
    }

    void close(@Disposes ModelDispatcher dispatcher) {
        dispatcher.close();
    }

    void close(@Disposes Embedder embedder) {
        embedder.close();
    }

    @Produces
    @Singleton
    KnowledgeIndex index(KnowledgeConfig config) throws IOException {
        return new KnowledgeIndex(config.stateDir().resolve("index"));
    }

    void close(@Disposes KnowledgeIndex index) throws IOException {
        index.close();
    }

    @Produces
    @Singleton
    KnowledgeFollower follower(TopicsConfig topics, Config all, KnowledgeIndex index) {
        return new KnowledgeFollower(ClientsConfig.of(all), topics.topics(), index);
    }

    @Produces
    @Singleton
    KnowledgeWriter writer(KnowledgeConfig config, TopicsConfig topics, Config all) throws IOException {
        return new KnowledgeWriter(ClientsConfig.of(all), topics.topics(), instance(config.stateDir()));
    }

    void close(@Disposes KnowledgeWriter writer) {
        writer.close();
    }

    /** The name of whoever writes from this folder, kept there, so that it is the same after a kill. */
    private static String instance(Path folder) throws IOException {
        Path file = folder.resolve("instance");
        if (!Files.exists(file)) {
            Files.createDirectories(folder);
            Files.writeString(file, Ids.random());
        }
        return Files.readString(file).strip();
    }

    @Produces
    @Singleton
    GuardedHttp http(KnowledgeConfig config) {
        return new GuardedHttp(new GuardedHttp.Limits(
                config.http().allowHosts().orElse(List.of()),
                CONNECT_TIMEOUT_MS,
                RESPONSE_TIMEOUT_MS,
                maxBytes(config)));
    }

    void close(@Disposes GuardedHttp http) throws IOException {
        http.close();
    }

    private static int maxBytes(KnowledgeConfig config) {
        return Math.toIntExact(config.maxDocumentSize().asLongValue());
    }

    @Produces
    @Singleton
    Search search(KnowledgeIndex index, Embedder embedder) {
        return new Search(index, embedder);
    }

    @Produces
    @Singleton
    Ingest ingest(
            KnowledgeConfig config,
            GuardedHttp http,
            Embedder embedder,
            KnowledgeIndex index,
            KnowledgeFollower follower,
            KnowledgeWriter writer) {
        Function<String, Optional<Path>> workspaces = namespace -> config.workspace()
                .map(all -> config.workspacePerNamespace() ? NamespaceFolder.of(all, namespace) : all);
        return new Ingest(
                new Ingest.Parts(new Fetcher(http, workspaces, maxBytes(config)), embedder, index, follower, writer),
                new Ingest.Settings(chunking(config.chunking()), atLeastOne("max-chunks", config.maxChunks())),
                Clock.systemUTC());
    }

    private static ChunkSettings chunking(KnowledgeConfig.Chunks chunks) {
        try {
            return ChunkSettings.of(ChunkSettings.Strategy.HEADINGS)
                    .with(
                            chunks.strategy(),
                            chunks.size().isPresent()
                                    ? Long.valueOf(chunks.size().getAsInt())
                                    : null,
                            chunks.overlap().isPresent()
                                    ? Long.valueOf(chunks.overlap().getAsInt())
                                    : null);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PREFIX + e.getMessage(), e);
        }
    }

    @Produces
    @Singleton
    ForgottenFollower forgotten(TopicsConfig topics, Config all) {
        return new ForgottenFollower(ClientsConfig.of(all), topics.topics(), "millrace-knowledge");
    }

    void close(@Disposes ForgottenFollower forgotten) {
        forgotten.close();
    }

    @Produces
    @Singleton
    EntityIndex entities(KnowledgeIndex index) {
        return new EntityIndex(index);
    }

    @Produces
    @Singleton
    EntityGraph graph(KnowledgeIndex index) {
        return new EntityGraph(index);
    }

    @Produces
    @Singleton
    EntitySearch entitySearch(EntityIndex entities, Embedder embedder) {
        return new EntitySearch(entities, embedder);
    }

    @Produces
    @Singleton
    EntityExtraction extraction(
            KnowledgeConfig config,
            ModelDispatcher dispatcher,
            Embedder embedder,
            EntityIndex entities,
            KnowledgeFollower follower,
            KnowledgeWriter writer) {
        return new EntityExtraction(
                new EntityExtraction.Parts(
                        new EntityModel(dispatcher, config.entities().model().orElse(null)),
                        embedder,
                        entities,
                        follower,
                        writer),
                Clock.systemUTC());
    }

    @Produces
    @Singleton
    KnowledgeTools tools(
            Search search, KnowledgeIndex index, KnowledgeWriter writer, EntitySearch entities, EntityGraph graph) {
        return new KnowledgeTools(search, index, writer, new EntitySearchTool(entities, graph), Clock.systemUTC());
    }

    @Produces
    @Singleton
    KnowledgeNotices notices(
            Ingest ingest, ForgottenFollower forgotten, EntityExtraction extraction, Forgetting forgetting) {
        return new KnowledgeNotices(new IngestNotices(ingest, forgotten), new EntityNotices(extraction, forgetting));
    }

    @Produces
    @Singleton
    Forgetting forgetting(
            ForgottenFollower forgotten,
            KnowledgeIndex index,
            KnowledgeFollower follower,
            KnowledgeWriter writer,
            EntityExtraction extraction) {
        return new Forgetting(forgotten, index, follower, writer, extraction);
    }

    @Produces
    @Singleton
    MemoryReader memory(TopicsConfig topics, Config all, Ingest ingest) {
        return new MemoryReader(ClientsConfig.of(all), topics.topics(), new MemoryIngest(ingest));
    }

    void close(@Disposes MemoryReader memory) {
        memory.close();
    }

    @Produces
    @Singleton
    KnowledgeRuntime runtime(
            KnowledgeConfig config,
            TopicsConfig topicsConfig,
            Config all,
            KnowledgeFollower follower,
            KnowledgeTools tools,
            KnowledgeNotices notices,
            Forgetting forgetting,
            MemoryReader memory,
            MeterRegistry meters) {
        ClientSettings kafka = ClientsConfig.of(all);
        Topics topics = topicsConfig.topics();
        WorkerSettings settings = WorkerSettings.of(kafka, topics, Topics.KNOWLEDGE_TOOLSET, config.maxConcurrent())
                .with(WorkerSettings.DEFAULT_LOCK, config.shutdownGrace());
        return new KnowledgeRuntime(
                new KnowledgeRuntime.Installation(kafka, topics, topicsConfig.settings()),
                follower,
                () -> {
                    memory.start();
                    return RequestWorker.start(settings, tools, notices, meters);
                },
                forgetting::look);
    }

    @Produces
    @Readiness
    HealthCheck knowledgeReady(KnowledgeRuntime runtime) {
        return () -> runtime.notReady()
                .map(reason -> HealthCheckResponse.named(NAME)
                        .down()
                        .withData("reason", reason)
                        .build())
                .orElseGet(() -> HealthCheckResponse.named(NAME).up().build());
    }

    void start(
            @Observes @Priority(Interceptor.Priority.APPLICATION + 100) StartupEvent event,
            KnowledgeRuntime runtime,
            KnowledgeConfig config) {
        config.withProcess().ifPresent(KnowledgeWiring::endWith);
        runtime.start();
    }

    private static void endWith(long number) {
        CompletableFuture<Void> unused = ProcessHandle.of(number)
                .map(ProcessHandle::onExit)
                .orElseGet(() -> CompletableFuture.completedFuture(ProcessHandle.current()))
                .thenRun(Quarkus::asyncExit);
    }

    void stop(@Observes ShutdownEvent event, KnowledgeRuntime runtime) {
        runtime.close();
    }
}
