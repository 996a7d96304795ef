package dev.millrace.knowledge;

import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.ForgottenFollower;
import dev.millrace.knowledge.core.ChunkSettings;
import dev.millrace.knowledge.embed.Embedder;
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
import dev.millrace.knowledge.kafka.KnowledgeFollower;
import dev.millrace.knowledge.kafka.KnowledgeWriter;
import dev.millrace.knowledge.tools.EntityNotices;
import dev.millrace.knowledge.tools.EntitySearchTool;
import dev.millrace.knowledge.tools.IngestNotices;
import dev.millrace.knowledge.tools.KnowledgeNotices;
import dev.millrace.knowledge.tools.KnowledgeTools;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.scripted.Script;
import dev.millrace.llm.scripted.ScriptedModel;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/** The parts of the service on a broker, without its container. */
final class KnowledgeParts implements AutoCloseable {

    final KnowledgeIndex index;
    final KnowledgeFollower follower;
    final KnowledgeWriter writer;
    final ForgottenFollower forgotten;
    final Ingest ingest;
    final Search search;
    final Forgetting forgetting;
    final EntityExtraction extraction;
    final EntitySearch entities;
    final EntityGraph graph;
    final KnowledgeTools tools;
    final KnowledgeNotices notices;
    private final ModelDispatcher dispatcher;
    private final GuardedHttp http;

    /** Parts whose model is the scripted one, with its own script. */
    KnowledgeParts(String servers, Topics topics, Path folder, Embedder embedder) throws IOException {
        this(servers, topics, folder, embedder, new ScriptedModel(Script.builtIn()));
    }

    KnowledgeParts(String servers, Topics topics, Path folder, Embedder embedder, LanguageModel model)
            throws IOException {
        dispatcher = new ModelDispatcher(model, DispatcherLimits.DEFAULTS);
        ClientSettings kafka = ClientSettings.at(servers);
        index = new KnowledgeIndex(folder.resolve("index"));
        follower = new KnowledgeFollower(kafka, topics, index);
        writer = new KnowledgeWriter(kafka, topics, String.valueOf(folder.getFileName()));
        forgotten = new ForgottenFollower(kafka, topics, "millrace-knowledge-test");
        http = new GuardedHttp(new GuardedHttp.Limits(List.of(), 1_000, 5_000, 100_000));
        ingest = new Ingest(
                new Ingest.Parts(
                        new Fetcher(http, any -> Optional.of(folder), 100_000), embedder, index, follower, writer),
                new Ingest.Settings(ChunkSettings.of(ChunkSettings.Strategy.HEADINGS), 1_000),
                Clock.systemUTC());
        search = new Search(index, embedder);
        EntityIndex entityIndex = new EntityIndex(index);
        extraction = new EntityExtraction(
                new EntityExtraction.Parts(new EntityModel(dispatcher, null), embedder, entityIndex, follower, writer),
                Clock.systemUTC());
        entities = new EntitySearch(entityIndex, embedder);
        graph = new EntityGraph(index);
        tools = new KnowledgeTools(search, index, writer, new EntitySearchTool(entities, graph), Clock.systemUTC());
        forgetting = new Forgetting(forgotten, index, follower, writer, extraction);
        notices = new KnowledgeNotices(new IngestNotices(ingest, forgotten), new EntityNotices(extraction, forgetting));
        follower.start();
    }

    @Override
    public void close() throws IOException {
        dispatcher.close();
        follower.close();
        writer.close();
        forgotten.close();
        http.close();
        index.close();
    }
}
