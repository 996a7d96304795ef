package dev.millrace.knowledge.index;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.embed.Embedder;
import dev.millrace.knowledge.embed.EmbeddingException;
import java.util.List;

/** Answers questions from the index, by words and by the meaning that the model sees in them. For any thread. */
public final class Search {

    private final KnowledgeIndex index;
    private final Embedder embedder;

    public Search(KnowledgeIndex index, Embedder embedder) {
        this.index = index;
        this.embedder = embedder;
    }

    /**
     * What is found, the best first.
     *
     * @throws EmbeddingException if the question needs a vector and there is none now
     */
    public List<KnowledgeView.Hit> hits(IndexQuestion question) throws EmbeddingException, InterruptedException {
        float[] vector = question.mode() == IndexQuestion.Mode.TEXT ? null : embedder.embed(question.text());
        Double threshold = question.threshold();
        return index.search(
                question,
                vector,
                embedder.model(),
                threshold == null ? embedder.thresholds().hit() : threshold);
    }
}
