package dev.millrace.knowledge.index;

import dev.millrace.api.KnowledgeView;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TermRangeQuery;
import org.apache.lucene.util.BytesRef;
import org.jspecify.annotations.Nullable;

/**
 * Entities, and the texts that mention them, in the same index as documents. One thread changes it; any thread asks.
 * Nothing of a namespace is found from another one.
 */
public final class EntityIndex {

    private static final String ENTITY = "entity";
    private static final String MENTIONS = "mentions";
    /** Of an entity: each of its names, normalized. */
    private static final String NAME = "name";

    private static final String TYPE = "type";
    /** Of a text: the entities that it mentions. */
    private static final String OF_ENTITY = "of-entity";
    /** Of a text: what it is from. */
    private static final String SOURCE = "source-of";
    /** Of a text: the entities that it relates to others. */
    private static final String RELATES = "relates";

    /** Of a text: when it was to be looked at. */
    private static final String AGE = "age";

    private static final int CANDIDATES = 50;
    private static final int RANK_CONSTANT = 5;

    private final KnowledgeIndex index;

    /** What is stored of an entity. */
    private record StoredFacts(
            String id,
            String namespace,
            String scope,
            String name,
            String type,
            @Nullable String description,
            List<String> aliases,
            String firstSeenAt,
            String changedAt) {}

    /**
     * Whose entities.
     *
     * @param scopes {@code null} = all of the namespace
     */
    public record Within(String namespace, @Nullable Collection<String> scopes) {

        /** Of one scope. */
        public static Within scope(String namespace, String scope) {
            return new Within(namespace, List.of(scope));
        }
    }

    /**
     * What is looked for.
     *
     * @param vector of the text; shared, not to be changed
     * @param model that made it
     * @param threshold of similarity, for what is found by vectors
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Likeness(String text, float[] vector, String model, double threshold) {}

    /** An entity that is much like something. */
    public record Near(KnowledgeView.Entity entity, double similarity) {}

    /** A view of this index. */
    public EntityIndex(KnowledgeIndex index) {
        this.index = index;
    }

    /** A name as names are compared: letters and digits, lower case, and one blank between words. */
    public static String normalized(String name) {
        return Normalizer.normalize(name, Normalizer.Form.NFKC)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}+#]+", " ")
                .strip();
    }

    /** An entity as it is now. */
    public void put(String key, StoredEntity entity) {
        Document fields = new Document();
        fields.add(new StringField(KnowledgeIndex.KIND, ENTITY, Field.Store.NO));
        fields.add(new StringField(KnowledgeIndex.NAMESPACE, entity.namespace(), Field.Store.NO));
        fields.add(new StringField(KnowledgeIndex.COLLECTION, entity.scope(), Field.Store.NO));
        fields.add(new StringField(TYPE, entity.type(), Field.Store.NO));
        fields.add(new StringField(NAME, normalized(entity.name()), Field.Store.NO));
        entity.aliases().forEach(alias -> fields.add(new StringField(NAME, normalized(alias), Field.Store.NO)));
        fields.add(new SortedDocValuesField(KnowledgeIndex.SORT, new BytesRef(entity.id())));
        fields.add(new StringField(KnowledgeIndex.SORT, entity.id(), Field.Store.NO));
        fields.add(new TextField(
                KnowledgeIndex.TITLE, entity.name() + ' ' + String.join(" ", entity.aliases()), Field.Store.NO));
        fields.add(new TextField(
                KnowledgeIndex.BODY,
                entity.name() + ' ' + entity.type() + ' ' + (entity.description() == null ? "" : entity.description()),
                Field.Store.NO));
        fields.add(new KnnFloatVectorField(
                vectors(entity.model()), entity.vector(), VectorSimilarityFunction.DOT_PRODUCT));
        fields.add(new StoredField(
                KnowledgeIndex.JSON,
                Json.writeText(new StoredFacts(
                        entity.id(),
                        entity.namespace(),
                        entity.scope(),
                        entity.name(),
                        entity.type(),
                        entity.description(),
                        entity.aliases(),
                        entity.firstSeenAt(),
                        entity.changedAt()))));
        index.put(key, fields);
    }

    /** What a text mentions. */
    public void put(String key, StoredMentions mentions) {
        Document fields = new Document();
        fields.add(new StringField(KnowledgeIndex.KIND, MENTIONS, Field.Store.NO));
        fields.add(new StringField(KnowledgeIndex.NAMESPACE, mentions.namespace(), Field.Store.NO));
        fields.add(new StringField(KnowledgeIndex.COLLECTION, mentions.scope(), Field.Store.NO));
        fields.add(new SortedDocValuesField(AGE, new BytesRef(mentions.askedAt() + mentions.id())));
        fields.add(new StringField(SOURCE, mentions.sourceType() + ':' + mentions.sourceId(), Field.Store.NO));
        mentions.mentions().stream()
                .map(StoredMentions.Mention::entityId)
                .distinct()
                .forEach(id -> fields.add(new StringField(OF_ENTITY, id, Field.Store.NO)));
        mentions.relations().stream()
                .flatMap(relation -> List.of(relation.from(), relation.to()).stream())
                .distinct()
                .forEach(id -> fields.add(new StringField(RELATES, id, Field.Store.NO)));
        fields.add(new StoredField(KnowledgeIndex.JSON, Json.writeText(mentions)));
        index.put(key, fields);
    }

    /** An entity of a namespace, by its id; empty if there is none. */
    public Optional<KnowledgeView.Entity> find(String namespace, String id) {
        Query query = KnowledgeIndex.within(namespace, null, ENTITY)
                .add(new TermQuery(new Term(KnowledgeIndex.SORT, id)), BooleanClause.Occur.FILTER)
                .build();
        return index.ask(searcher -> {
            ScoreDoc[] found = searcher.search(query, 1).scoreDocs;
            return found.length == 0 ? Optional.empty() : Optional.of(entity(searcher, found[0].doc, null));
        });
    }

    /**
     * Entities, by id.
     *
     * @param after only those after this id; {@code null} = from the first on
     */
    public List<KnowledgeView.Entity> list(Within within, @Nullable String type, @Nullable String after, int limit) {
        BooleanQuery.Builder query = of(within, type);
        if (after != null) {
            query.add(
                    TermRangeQuery.newStringRange(KnowledgeIndex.SORT, after, null, false, true),
                    BooleanClause.Occur.FILTER);
        }
        return index.ask(searcher -> {
            List<KnowledgeView.Entity> entities = new ArrayList<>();
            Sort byId = new Sort(new SortField(KnowledgeIndex.SORT, SortField.Type.STRING));
            for (ScoreDoc found : searcher.search(query.build(), limit, byId).scoreDocs) {
                entities.add(entity(searcher, found.doc, null));
            }
            return entities;
        });
    }

    /** Those that have this name, whatever its case and punctuation. */
    public List<KnowledgeView.Entity> named(Within within, String name, int limit) {
        Query query = of(within, null)
                .add(new TermQuery(new Term(NAME, normalized(name))), BooleanClause.Occur.FILTER)
                .build();
        return index.ask(searcher -> {
            List<KnowledgeView.Entity> entities = new ArrayList<>();
            for (ScoreDoc found : searcher.search(query, limit).scoreDocs) {
                entities.add(entity(searcher, found.doc, 1.0));
            }
            return entities;
        });
    }

    /** Those whose name is like this, the most similar first. */
    public List<Near> near(Within within, float[] vector, String model, double threshold, int limit) {
        Query filter = of(within, null).build();
        return index.ask(searcher -> {
            List<Near> near = new ArrayList<>();
            for (ScoreDoc one : neighbours(searcher, filter, vector, model, limit)) {
                if (KnowledgeIndex.cosine(one.score) >= threshold) {
                    double similarity = KnowledgeIndex.cosine(one.score);
                    near.add(new Near(entity(searcher, one.doc, similarity), similarity));
                }
            }
            return near;
        });
    }

    /**
     * Looks for entities, the best first: what has just this name, then by words and by the meaning of names.
     *
     * @param type {@code null} = of all
     */
    public List<KnowledgeView.Entity> search(Within within, @Nullable String type, Likeness likeness, int limit) {
        Query filter = of(within, type).build();
        return index.ask(searcher -> {
            Map<Integer, Double> scores = new LinkedHashMap<>();
            Map<Integer, Double> similarities = new LinkedHashMap<>();
            Query exact = new BooleanQuery.Builder()
                    .add(filter, BooleanClause.Occur.FILTER)
                    .add(new TermQuery(new Term(NAME, normalized(likeness.text()))), BooleanClause.Occur.FILTER)
                    .build();
            for (ScoreDoc one : searcher.search(exact, CANDIDATES).scoreDocs) {
                scores.put(one.doc, 1.0);
            }
            rank(scores, searcher.search(index.words(likeness.text(), filter), CANDIDATES).scoreDocs);
            List<ScoreDoc> near = new ArrayList<>();
            for (ScoreDoc one : neighbours(searcher, filter, likeness.vector(), likeness.model(), CANDIDATES)) {
                if (KnowledgeIndex.cosine(one.score) >= likeness.threshold()) {
                    near.add(one);
                    similarities.put(one.doc, KnowledgeIndex.cosine(one.score));
                }
            }
            rank(scores, near.toArray(ScoreDoc[]::new));
            List<Integer> best = scores.entrySet().stream()
                    .sorted(Map.Entry.<Integer, Double>comparingByValue(Comparator.reverseOrder()))
                    .limit(limit)
                    .map(Map.Entry::getKey)
                    .toList();
            List<KnowledgeView.Entity> entities = new ArrayList<>();
            for (Integer found : best) {
                entities.add(entity(searcher, found, similarities.get(found)));
            }
            return entities;
        });
    }

    private static void rank(Map<Integer, Double> scores, ScoreDoc[] found) {
        for (int rank = 0; rank < found.length; rank++) {
            scores.merge(found[rank].doc, 1.0 / (RANK_CONSTANT + rank + 1), Double::sum);
        }
    }

    private static ScoreDoc[] neighbours(IndexSearcher searcher, Query filter, float[] vector, String model, int limit)
            throws IOException {
        return searcher.search(new KnnFloatVectorQuery(vectors(model), vector, limit, filter), limit).scoreDocs;
    }

    /** What a text mentions, by its id; empty if it is not known. */
    public Optional<StoredMentions> mentions(String key) {
        return texts(new TermQuery(new Term(KnowledgeIndex.ID, key)), 1).stream()
                .findFirst();
    }

    /** The texts that mention an entity, the oldest first. */
    public List<StoredMentions> mentioning(String namespace, String entityId, int limit) {
        return texts(about(namespace, OF_ENTITY, entityId), limit);
    }

    /** The texts that relate an entity to others, the oldest first. */
    public List<StoredMentions> relating(String namespace, String entityId, int limit) {
        return texts(about(namespace, RELATES, entityId), limit);
    }

    /** What is known of this source, in whatever scope. */
    public List<StoredMentions> ofSource(String namespace, String sourceType, String sourceId) {
        return texts(about(namespace, SOURCE, sourceType + ':' + sourceId), CANDIDATES);
    }

    /** The texts of all namespaces. */
    public List<StoredMentions> allMentions() {
        Query query = new TermQuery(new Term(KnowledgeIndex.KIND, MENTIONS));
        return texts(query, Math.max(1, index.ask(searcher -> searcher.count(query))));
    }

    private static Query about(String namespace, String field, String value) {
        return KnowledgeIndex.within(namespace, null, MENTIONS)
                .add(new TermQuery(new Term(field, value)), BooleanClause.Occur.FILTER)
                .build();
    }

    private List<StoredMentions> texts(Query query, int limit) {
        return index.ask(searcher -> {
            List<StoredMentions> texts = new ArrayList<>();
            StoredFields stored = searcher.storedFields();
            Sort byAge = new Sort(new SortField(AGE, SortField.Type.STRING));
            for (ScoreDoc found : searcher.search(query, limit, byAge).scoreDocs) {
                texts.add(KnowledgeIndex.read(stored, found.doc, StoredMentions.class));
            }
            return texts;
        });
    }

    private static BooleanQuery.Builder of(Within within, @Nullable String type) {
        BooleanQuery.Builder query = KnowledgeIndex.within(within.namespace(), null, ENTITY);
        if (within.scopes() != null) {
            query.add(
                    new TermInSetQuery(
                            KnowledgeIndex.COLLECTION,
                            within.scopes().stream().map(BytesRef::new).toList()),
                    BooleanClause.Occur.FILTER);
        }
        if (type != null) {
            query.add(new TermQuery(new Term(TYPE, type)), BooleanClause.Occur.FILTER);
        }
        return query;
    }

    private static KnowledgeView.Entity entity(IndexSearcher searcher, int found, @Nullable Double similarity)
            throws IOException {
        StoredFacts facts = KnowledgeIndex.read(searcher.storedFields(), found, StoredFacts.class);
        return new KnowledgeView.Entity(
                facts.id(),
                facts.namespace(),
                facts.scope(),
                facts.name(),
                facts.type(),
                facts.description(),
                facts.aliases(),
                searcher.count(about(facts.namespace(), OF_ENTITY, facts.id())),
                facts.firstSeenAt(),
                facts.changedAt(),
                similarity);
    }

    private static String vectors(String model) {
        return "entity-" + model;
    }
}
