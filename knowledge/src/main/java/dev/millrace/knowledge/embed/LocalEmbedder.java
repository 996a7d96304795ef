package dev.millrace.knowledge.embed;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.onnx.allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * all-MiniLM-L6-v2, quantized, in this process and without network: 384 dimensions. So many threads compute as it is
 * given; more calls wait. The model is loaded with the first call, in about a second.
 */
public final class LocalEmbedder implements Embedder {

    /** Names the model. */
    public static final String MODEL = "all-minilm-l6-v2-q";

    /** Measured on pairs of questions and answers, and of names, see docs/knowledge.md. */
    public static final Thresholds THRESHOLDS = new Thresholds(0.15, 0.65, 0.95);

    private final Thresholds thresholds;
    private final ExecutorService threads;
    private final Future<EmbeddingModel> loading;

    /**
     * Begins to load.
     *
     * @param maxThreads 1 or more
     * @param folder where the native libraries are unpacked
     */
    public LocalEmbedder(int maxThreads, Path folder, Thresholds thresholds) {
        this.thresholds = thresholds;
        // else they would lie in the home folder, which containers often have none of
        System.setProperty("DJL_CACHE_DIR", folder.toAbsolutePath().toString());
        System.setProperty("ai.djl.offline", "true");
        this.threads = Executors.newFixedThreadPool(
                maxThreads, Thread.ofPlatform().daemon().name("embedding-", 0).factory());
        // each text is computed by the thread that asks; the model's own pool would have as many as there are
        // processors
        this.loading = threads.submit(() -> new AllMiniLmL6V2QuantizedEmbeddingModel(Runnable::run));
    }

    @Override
    public String model() {
        return MODEL;
    }

    @Override
    public Thresholds thresholds() {
        return thresholds;
    }

    @Override
    public List<float[]> embed(List<String> texts) throws EmbeddingException, InterruptedException {
        try {
            EmbeddingModel model = loading.get();
            Future<List<Embedding>> computed = threads.submit(
                    () -> model.embedAll(texts.stream().map(TextSegment::from).toList())
                            .content());
            return computed.get().stream()
                    .map(embedding -> Embedder.normalized(embedding.vector()))
                    .toList();
        } catch (ExecutionException e) {
            throw new EmbeddingException("the model in this process failed: " + e.getCause(), e);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
