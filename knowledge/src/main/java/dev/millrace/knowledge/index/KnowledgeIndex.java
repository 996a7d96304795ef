package dev.millrace.knowledge.index;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.api.KnowledgeView;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TermRangeQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;
import org.jspecify.annotations.Nullable;

/**
 * Documents and their chunks, to be looked for by words and by meaning. What has been put is seen after the next
 * {@link #refresh}, and outlives the process after the next {@link #commit}. One thread changes it; any thread asks.
 */
public final class KnowledgeIndex implements AutoCloseable {

    /** The collection of what agents remember, which is found and listed only where it is asked for. */
    public static final String MEMORY = "millrace:memory";

    static final String ID = "id";
    static final String KIND = "kind";
    private static final String DOCUMENT = "document";
    private static final String CHUNK = "chunk";
    static final String NAMESPACE = "namespace";
    static final String COLLECTION = "collection";
    /** Of a chunk: its document's key. */
    private static final String OF = "of";
    /** Of a chunk: its document's key and its version. */
    private static final String VERSION = "version";
    /** Of a chunk: 1 if its version is the one that its document has now. */
    private static final String LIVE = "live";

    static final String TITLE = "title";
    static final String BODY = "body";
    static final String JSON = "json";
    static final String SORT = "sort";

    /** How far each of the two searches looks, before their ranks are put together. */
    private static final int CANDIDATES = 50;
    /**
     * Of reciprocal rank fusion: how little the difference of two good ranks counts. The usual 60 puts what both
     * searches hold for mediocre above what one of them holds for the best (docs/knowledge.md has figures).
     */
    private static final int RANK_CONSTANT = 5;
    /** What stands in a title or a heading says more about a chunk than what stands in it. */
    private static final float TITLE_BOOST = 0.6f;

    private final Directory directory;
    private final Analyzer analyzer = new EnglishAnalyzer();
    private final IndexWriter writer;
    private final SearcherManager searchers;

    /** What is stored of a chunk. */
    private record StoredText(
            String namespace,
            String collection,
            String documentId,
            String version,
            int number,
            String title,
            String source,
            List<String> section,
            String text) {}

    /** Opens the index in this folder, which is made if it is not there. */
    public KnowledgeIndex(Path folder) throws IOException {
        this(FSDirectory.open(folder));
    }

    /** Opens the index in this directory, and closes it in the end. */
    public KnowledgeIndex(Directory directory) throws IOException {
        this.directory = directory;
        this.writer = new IndexWriter(directory, new IndexWriterConfig(analyzer).setCommitOnClose(false));
        this.searchers = new SearcherManager(writer, null);
    }

    /** What {@link #commit} was told last; empty = nothing was ever committed. */
    public Map<String, String> committed() {
        Map<String, String> data = new LinkedHashMap<>();
        Iterable<Map.Entry<String, String>> live = writer.getLiveCommitData();
        if (live != null) {
            live.forEach(entry -> data.put(entry.getKey(), entry.getValue()));
        }
        return data;
    }

    /** Keeps what was put so far, with what says how far that is. */
    public void commit(Map<String, String> reached) {
        try {
            writer.setLiveCommitData(reached.entrySet());
            writer.commit();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lets searches see what was put so far. */
    public void refresh() {
        try {
            searchers.maybeRefreshBlocking();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Takes everything away. */
    public void clear() {
        try {
            writer.deleteAll();
            searchers.maybeRefreshBlocking();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A document as it is now; from now on searches see the chunks of its version, and no others of it. */
    public void put(String key, KnowledgeView.Document document) {
        Document fields = new Document();
        fields.add(new StringField(ID, key, Field.Store.YES));
        fields.add(new StringField(KIND, DOCUMENT, Field.Store.NO));
        fields.add(new StringField(NAMESPACE, document.namespace(), Field.Store.NO));
        fields.add(new StringField(COLLECTION, document.collection(), Field.Store.NO));
        fields.add(new SortedDocValuesField(SORT, new BytesRef(document.id())));
        fields.add(new StringField(SORT, document.id(), Field.Store.NO));
        fields.add(new StoredField(JSON, Json.writeText(document)));
        try {
            writer.updateDocument(new Term(ID, key), fields);
            setLive(new Term(OF, key), 0L);
            if (document.version() != null) {
                setLive(new Term(VERSION, version(key, document.version())), 1L);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A chunk; searches see it if its version is that of its document, as soon as it is. */
    public void put(String key, String documentKey, StoredChunk chunk) {
        Document fields = new Document();
        fields.add(new StringField(ID, key, Field.Store.YES));
        fields.add(new StringField(KIND, CHUNK, Field.Store.NO));
        fields.add(new StringField(NAMESPACE, chunk.namespace(), Field.Store.NO));
        fields.add(new StringField(COLLECTION, chunk.collection(), Field.Store.NO));
        fields.add(new StringField(OF, documentKey, Field.Store.NO));
        fields.add(new StringField(VERSION, version(documentKey, chunk.version()), Field.Store.NO));
        boolean live = find(documentKey)
                .map(document -> chunk.version().equals(document.version()))
                .orElse(false);
        fields.add(new NumericDocValuesField(LIVE, live ? 1L : 0L));
        fields.add(new TextField(TITLE, chunk.title() + ' ' + String.join(" ", chunk.section()), Field.Store.NO));
        fields.add(new TextField(BODY, chunk.text(), Field.Store.NO));
        fields.add(
                new KnnFloatVectorField(vectors(chunk.model()), chunk.vector(), VectorSimilarityFunction.DOT_PRODUCT));
        fields.add(new StoredField(
                JSON,
                Json.writeText(new StoredText(
                        chunk.namespace(),
                        chunk.collection(),
                        chunk.documentId(),
                        chunk.version(),
                        chunk.number(),
                        chunk.title(),
                        chunk.source(),
                        chunk.section(),
                        chunk.text()))));
        try {
            writer.updateDocument(new Term(ID, key), fields);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Puts something of another kind, in place of what has this key. */
    void put(String key, Document fields) {
        fields.add(new StringField(ID, key, Field.Store.YES));
        try {
            writer.updateDocument(new Term(ID, key), fields);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A chunk that searches see, by its key; empty if there is none. */
    public Optional<KnowledgeView.Hit> chunk(String key) {
        return ask(searcher -> {
            ScoreDoc[] found = searcher.search(new TermQuery(new Term(ID, key)), 1).scoreDocs;
            return found.length == 0
                    ? Optional.<KnowledgeView.Hit>empty()
                    : Optional.of(hit(read(searcher.storedFields(), found[0].doc, StoredText.class), 0, null));
        });
    }

    /** What has this key is gone; of a document that is gone nothing is seen any more. */
    public void remove(String key) {
        try {
            writer.deleteDocuments(new Term(ID, key));
            setLive(new Term(OF, key), 0L);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void setLive(Term which, long value) throws IOException {
        // an index without a single chunk does not know the field, and refuses to change it
        if (writer.getFieldNames().contains(LIVE)) {
            writer.updateNumericDocValue(which, LIVE, value);
        }
    }

    /** A document, by its key; empty if there is none. */
    public Optional<KnowledgeView.Document> find(String key) {
        return ask(searcher -> {
            ScoreDoc[] found = searcher.search(new TermQuery(new Term(ID, key)), 1).scoreDocs;
            return found.length == 0
                    ? Optional.<KnowledgeView.Document>empty()
                    : Optional.of(read(searcher.storedFields(), found[0].doc, KnowledgeView.Document.class));
        });
    }

    /**
     * Documents of a namespace, by id.
     *
     * @param collection {@code null} = of all
     * @param after only those after this id; {@code null} = from the first on
     */
    public List<KnowledgeView.Document> documents(
            String namespace, @Nullable String collection, @Nullable String after, int limit) {
        BooleanQuery.Builder query = within(namespace, collection, DOCUMENT);
        if (after != null) {
            query.add(TermRangeQuery.newStringRange(SORT, after, null, false, true), BooleanClause.Occur.FILTER);
        }
        return ask(searcher -> {
            List<KnowledgeView.Document> documents = new ArrayList<>();
            Sort byId = new Sort(new SortField(SORT, SortField.Type.STRING));
            StoredFields stored = searcher.storedFields();
            for (ScoreDoc found : searcher.search(query.build(), limit, byId).scoreDocs) {
                documents.add(read(stored, found.doc, KnowledgeView.Document.class));
            }
            return documents;
        });
    }

    /** The keys of all chunks of a document, of whatever version. */
    public Set<String> chunkKeys(String documentKey) {
        return keys(new TermQuery(new Term(OF, documentKey)));
    }

    /** The documents of all namespaces. */
    public List<KnowledgeView.Document> allDocuments() {
        Query query = new TermQuery(new Term(KIND, DOCUMENT));
        return ask(searcher -> {
            List<KnowledgeView.Document> documents = new ArrayList<>();
            StoredFields stored = searcher.storedFields();
            for (ScoreDoc found : searcher.search(query, Math.max(1, searcher.count(query))).scoreDocs) {
                documents.add(read(stored, found.doc, KnowledgeView.Document.class));
            }
            return documents;
        });
    }

    private Set<String> keys(Query query) {
        return ask(searcher -> {
            Set<String> keys = new HashSet<>();
            StoredFields stored = searcher.storedFields();
            int all = Math.max(1, searcher.count(query));
            for (ScoreDoc found : searcher.search(query, all).scoreDocs) {
                keys.add(stored.document(found.doc, Set.of(ID)).get(ID));
            }
            return keys;
        });
    }

    /** How many chunks of a namespace searches see. */
    public int chunks(String namespace) {
        BooleanQuery seen = seen(namespace, null);
        return ask(searcher -> searcher.count(seen));
    }

    /**
     * Looks for chunks, the best first. Equal texts are one hit.
     *
     * @param vector of the question; {@code null} with {@link IndexQuestion.Mode#TEXT}
     * @param model that made it
     * @param threshold of similarity, for what is found by vectors
     */
    public List<KnowledgeView.Hit> search(
            IndexQuestion question, float @Nullable [] vector, String model, double threshold) {
        Query within = seen(question.namespace(), question.collection());
        return ask(searcher -> {
            ScoreDoc[] byText = question.mode() == IndexQuestion.Mode.VECTOR
                    ? new ScoreDoc[0]
                    : searcher.search(words(question.text(), within), CANDIDATES).scoreDocs;
            ScoreDoc[] byVector = question.mode() == IndexQuestion.Mode.TEXT || vector == null
                    ? new ScoreDoc[0]
                    : near(searcher, vector, model, within, threshold);
            return fused(searcher, question, byText, byVector);
        });
    }

    private static ScoreDoc[] near(IndexSearcher searcher, float[] vector, String model, Query within, double threshold)
            throws IOException {
        ScoreDoc[] near = searcher.search(
                        new KnnFloatVectorQuery(vectors(model), vector, CANDIDATES, within), CANDIDATES)
                .scoreDocs;
        List<ScoreDoc> enough = new ArrayList<>();
        for (ScoreDoc one : near) {
            if (cosine(one.score) >= threshold) {
                enough.add(one);
            }
        }
        return enough.toArray(ScoreDoc[]::new);
    }

    /** Lucene's score of a dot product of unit vectors is (1 + cosine) / 2. */
    static double cosine(float score) {
        return 2.0 * score - 1.0;
    }

    private static List<KnowledgeView.Hit> fused(
            IndexSearcher searcher, IndexQuestion question, ScoreDoc[] byText, ScoreDoc[] byVector) throws IOException {
        Map<Integer, Double> scores = new LinkedHashMap<>();
        Map<Integer, Double> similarities = new LinkedHashMap<>();
        for (int rank = 0; rank < byVector.length; rank++) {
            scores.merge(byVector[rank].doc, 1.0 / (RANK_CONSTANT + rank + 1), Double::sum);
            similarities.put(byVector[rank].doc, cosine(byVector[rank].score));
        }
        for (int rank = 0; rank < byText.length; rank++) {
            scores.merge(byText[rank].doc, 1.0 / (RANK_CONSTANT + rank + 1), Double::sum);
        }
        List<Map.Entry<Integer, Double>> ranked = new ArrayList<>(scores.entrySet());
        ranked.sort(Map.Entry.<Integer, Double>comparingByValue().reversed());
        StoredFields stored = searcher.storedFields();
        List<KnowledgeView.Hit> hits = new ArrayList<>();
        Set<String> texts = new HashSet<>();
        for (Map.Entry<Integer, Double> one : ranked) {
            StoredText chunk = read(stored, one.getKey(), StoredText.class);
            if (texts.add(chunk.text())) {
                hits.add(hit(chunk, one.getValue(), similarities.get(one.getKey())));
            }
            if (hits.size() == question.limit()) {
                break;
            }
        }
        return hits;
    }

    private static KnowledgeView.Hit hit(StoredText chunk, double score, @Nullable Double similarity) {
        return new KnowledgeView.Hit(
                chunk.documentId() + '/' + chunk.number(),
                chunk.documentId(),
                chunk.collection(),
                chunk.number(),
                chunk.title(),
                chunk.source(),
                chunk.section(),
                chunk.text(),
                score,
                similarity,
                null);
    }

    Query words(String text, Query within) throws IOException {
        BooleanQuery.Builder words = new BooleanQuery.Builder();
        try (TokenStream tokens = analyzer.tokenStream(BODY, text)) {
            CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
            tokens.reset();
            Set<String> seen = new HashSet<>();
            while (tokens.incrementToken()) {
                String word = term.toString();
                // a question that goes on without end is not looked for without end
                if (seen.size() < 200 && seen.add(word)) {
                    words.add(new TermQuery(new Term(BODY, word)), BooleanClause.Occur.SHOULD);
                    words.add(
                            new BoostQuery(new TermQuery(new Term(TITLE, word)), TITLE_BOOST),
                            BooleanClause.Occur.SHOULD);
                }
            }
            tokens.end();
        }
        return new BooleanQuery.Builder()
                .add(words.build(), BooleanClause.Occur.MUST)
                .add(within, BooleanClause.Occur.FILTER)
                .build();
    }

    private static BooleanQuery seen(String namespace, @Nullable String collection) {
        return within(namespace, collection, CHUNK)
                .add(NumericDocValuesField.newSlowExactQuery(LIVE, 1L), BooleanClause.Occur.FILTER)
                .build();
    }

    static BooleanQuery.Builder within(String namespace, @Nullable String collection, String kind) {
        BooleanQuery.Builder query = new BooleanQuery.Builder()
                .add(new TermQuery(new Term(NAMESPACE, namespace)), BooleanClause.Occur.FILTER)
                .add(new TermQuery(new Term(KIND, kind)), BooleanClause.Occur.FILTER);
        return collection == null
                ? query.add(new TermQuery(new Term(COLLECTION, MEMORY)), BooleanClause.Occur.MUST_NOT)
                : query.add(new TermQuery(new Term(COLLECTION, collection)), BooleanClause.Occur.FILTER);
    }

    private static String vectors(String model) {
        return "vector-" + model;
    }

    private static String version(String documentKey, String version) {
        return documentKey + '@' + version;
    }

    static <T> T read(StoredFields stored, int found, Class<T> type) throws IOException {
        try {
            return Json.MAPPER.readValue(stored.document(found, Set.of(JSON)).get(JSON), type);
        } catch (JsonProcessingException e) {
            throw new IOException("the index holds something that cannot be read", e);
        }
    }

    @FunctionalInterface
    interface Asked<T> {
        T of(IndexSearcher searcher) throws IOException;
    }

    <T> T ask(Asked<T> asked) {
        try {
            IndexSearcher searcher = searchers.acquire();
            try {
                return asked.of(searcher);
            } finally {
                searchers.release(searcher);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What was not committed is not kept. */
    @Override
    public void close() throws IOException {
        searchers.close();
        writer.close();
        directory.close();
        analyzer.close();
    }
}
