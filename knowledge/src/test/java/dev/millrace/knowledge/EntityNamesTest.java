package dev.millrace.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.knowledge.embed.Embedder;
import dev.millrace.knowledge.embed.LocalEmbedder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the thresholds of the local model do with pairs of names. */
class EntityNamesTest {

    private record Pair(boolean same, String one, String other) {}

    @Test
    @DisplayName("F-303: thresholds belong to the model: the local one merges no names by itself that mean different"
            + " things, and asks about nearly all that mean the same")
    void shouldMergeNoWrongPairAndAskAboutRightOnes(@TempDir Path folder) throws Exception {
        Embedder.Thresholds thresholds = LocalEmbedder.THRESHOLDS;
        List<String> merged = new ArrayList<>();
        List<String> wronglyMerged = new ArrayList<>();
        List<String> missed = new ArrayList<>();
        LocalModel.require();
        try (LocalEmbedder embedder = new LocalEmbedder(1, folder, thresholds)) {
            for (Pair pair : pairs()) {
                double similarity = cosine(embedder.embed(pair.one()), embedder.embed(pair.other()));
                if (similarity >= thresholds.merge()) {
                    (pair.same() ? merged : wronglyMerged).add(pair.toString());
                } else if (pair.same() && similarity < thresholds.confirm()) {
                    missed.add(pair.toString());
                }
            }
        }
        assertThat(wronglyMerged).isEmpty();
        assertThat(merged).isNotEmpty();
        assertThat(missed).hasSizeLessThanOrEqualTo(1);
    }

    private static double cosine(float[] one, float[] other) {
        double sum = 0;
        for (int i = 0; i < one.length; i++) {
            sum += (double) one[i] * other[i];
        }
        return sum;
    }

    private static List<Pair> pairs() throws IOException {
        try (InputStream lines =
                Objects.requireNonNull(EntityNamesTest.class.getResourceAsStream("entity-names.txt"))) {
            return new String(lines.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> List.of(line.split(" \\| ", 3)))
                    .map(parts -> new Pair(parts.get(0).equals("same"), parts.get(1), parts.get(2)))
                    .toList();
        }
    }
}
