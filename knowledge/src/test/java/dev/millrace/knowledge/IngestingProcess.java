package dev.millrace.knowledge;

import dev.millrace.knowledge.embed.RemoteEmbedder;
import dev.millrace.requests.RequestWorker;
import dev.millrace.requests.WorkerSettings;
import dev.millrace.schemas.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process that takes documents in until it is killed. */
final class IngestingProcess {

    private IngestingProcess() {}

    /** {@code args}: brokers, prefix of the topics, folder, server of vectors. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Topics topics = new Topics(args[1]);
        RemoteEmbedder embedder = StubEmbeddings.embedder(RemoteEmbedder.Api.OLLAMA, URI.create(args[3]));
        KnowledgeParts parts = new KnowledgeParts(args[0], topics, Path.of(args[2]), embedder);
        parts.follower.upToNow();
        WorkerSettings settings =
                WorkerSettings.of(Map.of("bootstrap.servers", args[0]), topics, Topics.KNOWLEDGE_TOOLSET, 4);
        RequestWorker unused = RequestWorker.start(settings, parts.tools, parts.notices, new SimpleMeterRegistry());
        TimeUnit.HOURS.sleep(1);
    }
}
