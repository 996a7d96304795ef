package dev.millrace.knowledge.embed;

import java.util.List;

/** Makes vectors of texts. For any thread; calls block. */
public interface Embedder extends AutoCloseable {

    /** Names the model: vectors of different ones are never compared. Letters, digits, dots and dashes. */
    String model();

    /** From which similarity on two texts of this model are what. */
    Thresholds thresholds();

    /**
     * Vectors of length 1, one for each text, in their order.
     *
     * @throws EmbeddingException if there are none now
     */
    List<float[]> embed(List<String> texts) throws EmbeddingException, InterruptedException;

    /** The vector of one text. */
    default float[] embed(String text) throws EmbeddingException, InterruptedException {
        return embed(List.of(text)).getFirst();
    }

    @Override
    void close();

    /**
     * Cosines that have a meaning.
     *
     * @param hit a chunk that is less similar to a question is no answer to it
     * @param confirm entities that are less similar are different ones
     * @param merge entities that are at least as similar are the same one; between the two a model is asked
     */
    record Thresholds(double hit, double confirm, double merge) {
        public Thresholds {
            if (!(hit >= -1 && hit <= 1 && confirm >= -1 && confirm <= merge && merge <= 1)) {
                throw new IllegalArgumentException(
                        "thresholds: expected -1 to 1, and confirm not above merge, found hit " + hit + ", confirm "
                                + confirm + ", merge " + merge);
            }
        }
    }

    /** A vector of length 1 in the same direction; one of zeros stays. */
    static float[] normalized(float[] vector) {
        double square = 0;
        for (float value : vector) {
            square += (double) value * value;
        }
        float[] unit = vector.clone();
        if (square > 0) {
            double length = Math.sqrt(square);
            for (int i = 0; i < unit.length; i++) {
                unit[i] = (float) (unit[i] / length);
            }
        }
        return unit;
    }
}
