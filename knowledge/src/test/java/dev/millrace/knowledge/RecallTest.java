package dev.millrace.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.core.Chunk;
import dev.millrace.knowledge.core.ChunkSettings;
import dev.millrace.knowledge.core.Chunker;
import dev.millrace.knowledge.core.MarkdownParser;
import dev.millrace.knowledge.core.ParsedDocument;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.embed.LocalEmbedder;
import dev.millrace.knowledge.index.IndexQuestion;
import dev.millrace.knowledge.index.IndexQuestion.Mode;
import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.knowledge.index.Search;
import dev.millrace.knowledge.index.StoredChunk;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How well questions about the documents of this repository are answered, without network. */
@Tag("slow")
class RecallTest {

    private static final int AT = 5;
    private static final double BAR = 0.75;

    /** Generated, and as long as all others together; what they say is in the others. */
    private static final Set<String> LEFT_OUT = Set.of("events.md", "task-lifecycle.md", "specification.md");

    private record Asked(String question, String answer) {}

    @Test
    void shouldFindWhatAnswersQuestionsAboutTheDocuments(@TempDir Path folder) throws Exception {
        List<Asked> questions = questions();
        assertThat(questions).hasSizeGreaterThanOrEqualTo(60);
        LocalModel.require();
        try (LocalEmbedder embedder = new LocalEmbedder(1, folder, LocalEmbedder.THRESHOLDS);
                KnowledgeIndex index = new KnowledgeIndex(new ByteBuffersDirectory())) {
            int chunks = fill(index, embedder);

            Search search = new Search(index, embedder);
            Map<Mode, List<String>> missed = new EnumMap<>(Mode.class);
            for (Mode mode : Mode.values()) {
                missed.put(mode, missed(search, questions, mode));
            }

            missed.forEach((mode, which) -> System.out.printf(
                    Locale.ROOT,
                    "RECALL %s: %d of %d in the first %d, of %d chunks%n",
                    mode,
                    questions.size() - which.size(),
                    questions.size(),
                    AT,
                    chunks));
            List<String> byBoth = Objects.requireNonNull(missed.get(Mode.HYBRID));
            int better = Math.min(
                    Objects.requireNonNull(missed.get(Mode.TEXT)).size(),
                    Objects.requireNonNull(missed.get(Mode.VECTOR)).size());
            assertThat(questions.size() - byBoth.size())
                    .as("found at %d; missed: %s", AT, byBoth)
                    .isGreaterThanOrEqualTo((int) Math.ceil(BAR * questions.size()));
            assertThat(byBoth.size()).as("missed, beside the better half").isLessThanOrEqualTo(better + 1);
        }
    }

    private static List<String> missed(Search search, List<Asked> questions, Mode mode)
            throws EmbeddingException, InterruptedException {
        List<String> missed = new ArrayList<>();
        for (Asked asked : questions) {
            List<KnowledgeView.Hit> hits =
                    search.hits(new IndexQuestion("docs", null, asked.question(), AT, mode, null));
            if (hits.stream().noneMatch(hit -> bare(hit.text()).contains(bare(asked.answer())))) {
                missed.add(asked.question());
            }
        }
        return missed;
    }

    private static String bare(String text) {
        return text.replaceAll("\\s+", " ").toLowerCase(Locale.ROOT);
    }

    private static int fill(KnowledgeIndex index, LocalEmbedder embedder) throws Exception {
        int all = 0;
        for (Path file : documents()) {
            ParsedDocument parsed = MarkdownParser.parse(Files.readString(file));
            String title = Objects.requireNonNullElse(parsed.title(), file.toString());
            List<Chunk> chunks = new Chunker(ChunkSettings.of(ChunkSettings.Strategy.HEADINGS)).chunks(parsed);
            List<float[]> vectors = embedder.embed(
                    chunks.stream().map(chunk -> chunk.inContext(title)).toList());
            String id = file.getFileName().toString();
            for (Chunk chunk : chunks) {
                index.put(
                        id + '/' + chunk.number(),
                        id,
                        new StoredChunk(
                                "docs",
                                "default",
                                id,
                                "1",
                                chunk.number(),
                                title,
                                id,
                                chunk.section(),
                                chunk.text(),
                                embedder.model(),
                                vectors.get(chunk.number())));
            }
            index.put(id, Documents.indexed("docs", id, "1", chunks.size()));
            all += chunks.size();
        }
        index.refresh();
        return all;
    }

    private static List<Path> documents() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("..", "docs"))) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .filter(file -> !LEFT_OUT.contains(file.getFileName().toString()))
                    .sorted()
                    .toList();
        }
    }

    private static List<Asked> questions() throws IOException {
        try (InputStream lines = Objects.requireNonNull(RecallTest.class.getResourceAsStream("questions.txt"))) {
            return new String(lines.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> {
                        String[] parts = line.split(" \\| ", 2);
                        return new Asked(parts[0], parts[1]);
                    })
                    .toList();
        }
    }
}
