package dev.millrace.knowledge.entities;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.embed.Embedder;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.index.EntityIndex;
import dev.millrace.knowledge.index.EntityIndex.Within;
import dev.millrace.knowledge.index.StoredEntity;
import dev.millrace.knowledge.index.StoredMentions;
import dev.millrace.knowledge.ingest.IngestException;
import dev.millrace.knowledge.kafka.KnowledgeFollower;
import dev.millrace.knowledge.kafka.KnowledgeKeys;
import dev.millrace.knowledge.kafka.KnowledgeWriter;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Payload;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the entities of a text and puts them into the graph: what has the same name, or nearly so, is one entity; of
 * what is alike a model is asked; the rest is new, and related to what it is like. What a text mentions and what
 * becomes of its entities is written in one transaction, so a text counts once however often it comes. For any thread.
 */
public final class EntityExtraction {

    /** The scope of what names none. */
    public static final String GLOBAL = "global";
    /** What the scope of a conversation begins with; alone it stands for that of the event. */
    public static final String THREAD = "thread";

    /** What the scope of an agent begins with. */
    public static final String AGENT = "agent";

    /** How many texts make up what is known of an entity; later ones are counted, and no more. */
    private static final int MAX_TEXTS = 1_000;

    private static final int CANDIDATES = 5;
    private static final int LOCKS = 64;
    private static final int MAX_EXCERPT = 300;

    private static final Pattern NUMBER = Pattern.compile("\\p{N}+");

    private final Parts parts;
    private final Clock clock;
    private final Lock[] locks =
            Stream.generate(ReentrantLock::new).limit(LOCKS).toArray(Lock[]::new);

    /** What it works with. */
    public record Parts(
            EntityModel model,
            Embedder embedder,
            EntityIndex entities,
            KnowledgeFollower follower,
            KnowledgeWriter writer) {}

    /** Where a found entity belongs. */
    private sealed interface Place {
        /** It is one that is known. */
        record Known(KnowledgeView.Entity entity) implements Place {}

        /** Maybe it is one that is known. */
        record Doubtful(KnowledgeView.Entity entity, double similarity) implements Place {}

        /** Nothing that is known is like it. */
        record New() implements Place {}
    }

    public EntityExtraction(Parts parts, Clock clock) {
        this.parts = parts;
        this.clock = clock;
    }

    /**
     * The scope of what an event wants to have found.
     *
     * @throws IngestException if it is that of a conversation, and the event is of none
     */
    public static String scope(Event event, Payload.EntityExtract wanted) throws IngestException {
        String named = wanted.namespace();
        if (named == null) {
            return GLOBAL;
        }
        if (!named.equals(THREAD)) {
            return named;
        }
        String thread = event.sessionId() == null ? event.taskId() : event.sessionId();
        if (thread == null) {
            throw new IngestException(
                    "no_thread", "namespace: expected an event of a session or a task for \"thread\", found neither");
        }
        return THREAD + ':' + thread;
    }

    /**
     * Finds what the text of this event is about, and keeps it. A text that has not changed since it was looked at is
     * left alone.
     *
     * @return what it mentions
     * @throws IngestException if it cannot be found out; nothing has changed
     */
    public StoredMentions take(Event event, Payload.EntityExtract wanted) throws IngestException, InterruptedException {
        String scope = scope(event, wanted);
        String id = Ids.hash(scope + '\n' + wanted.sourceType() + '\n' + wanted.sourceId())
                .substring(0, 32);
        String key = KnowledgeKeys.mentions(event.namespace(), id);
        String hash = Ids.hash(wanted.content());
        parts.follower().upToNow();
        StoredMentions before = parts.entities().mentions(key).orElse(null);
        if (before != null && before.hash().equals(hash)) {
            return before;
        }
        // asked for outside of the lock, since that takes seconds
        Extracted found = parts.model().find(event, wanted.content());
        Lock lock = locks[Math.floorMod((event.namespace() + '\n' + scope).hashCode(), LOCKS)];
        lock.lockInterruptibly();
        try {
            parts.follower().upToNow();
            return keep(
                    event,
                    found,
                    parts.entities().mentions(key).orElse(null),
                    new StoredMentions(
                            id,
                            event.namespace(),
                            scope,
                            wanted.sourceType(),
                            wanted.sourceId(),
                            excerpt(wanted.content()),
                            hash,
                            List.of(),
                            List.of(),
                            event.taskId(),
                            event.sessionId(),
                            event.timestamp().toString()));
        } catch (EmbeddingException e) {
            throw new IngestException("embedding_failed", String.valueOf(e.getMessage()));
        } finally {
            lock.unlock();
        }
    }

    private StoredMentions keep(Event event, Extracted found, @Nullable StoredMentions before, StoredMentions bare)
            throws IngestException, EmbeddingException, InterruptedException {
        List<float[]> vectors = found.entities().isEmpty()
                ? List.of()
                : parts.embedder()
                        .embed(found.entities().stream()
                                .map(Extracted.Found::name)
                                .toList());
        List<Place> places = places(event, bare, found.entities(), vectors);
        List<StoredMentions.Mention> mentions = new ArrayList<>();
        Set<StoredMentions.Relation> relations = new LinkedHashSet<>();
        for (int i = 0; i < places.size(); i++) {
            Extracted.Found one = found.entities().get(i);
            String entityId = places.get(i) instanceof Place.Known known
                    ? known.entity().id()
                    : Ids.hash(bare.namespace()
                                    + '\n'
                                    + bare.scope()
                                    + '\n'
                                    + EntityIndex.normalized(one.name())
                                    + '\n'
                                    + one.type())
                            .substring(0, 32);
            if (places.get(i) instanceof Place.Doubtful(KnowledgeView.Entity like, double similarity)
                    && !like.id().equals(entityId)) {
                relations.add(new StoredMentions.Relation(
                        entityId, like.id(), null, Math.round(similarity * 1_000) / 1_000.0));
            }
            mentions.add(
                    new StoredMentions.Mention(entityId, one.name(), one.type(), one.description(), one.aliases()));
        }
        for (Extracted.Related related : found.relations()) {
            String from = mentions.get(related.from()).entityId();
            String to = mentions.get(related.to()).entityId();
            if (!from.equals(to)) {
                relations.add(new StoredMentions.Relation(from, to, related.label(), null));
            }
        }
        StoredMentions now = new StoredMentions(
                bare.id(),
                bare.namespace(),
                bare.scope(),
                bare.sourceType(),
                bare.sourceId(),
                bare.excerpt(),
                bare.hash(),
                mentions,
                new ArrayList<>(relations),
                bare.taskId(),
                bare.sessionId(),
                bare.askedAt());
        Set<String> touched = new TreeSet<>();
        mentions.forEach(mention -> touched.add(mention.entityId()));
        if (before != null) {
            before.mentions().forEach(mention -> touched.add(mention.entityId()));
        }
        KnowledgeWriter.Change change = new KnowledgeWriter.Change().mentions(now);
        rebuild(change, now.namespace(), touched, Set.of(now.id()), List.of(now));
        parts.follower().await(parts.writer().write(change));
        return now;
    }

    /**
     * Takes texts out of the graph, as part of a change: what only they mention is gone, and of the rest no more is
     * known than the other texts say.
     */
    public void remove(KnowledgeWriter.Change change, Collection<StoredMentions> gone)
            throws EmbeddingException, InterruptedException {
        for (String namespace :
                new TreeSet<>(gone.stream().map(StoredMentions::namespace).toList())) {
            Set<String> ids = new TreeSet<>();
            Set<String> touched = new TreeSet<>();
            for (StoredMentions text : gone) {
                if (text.namespace().equals(namespace)) {
                    ids.add(text.id());
                    change.remove(List.of(KnowledgeKeys.mentions(namespace, text.id())));
                    text.mentions().forEach(mention -> touched.add(mention.entityId()));
                }
            }
            rebuild(change, namespace, touched, ids, List.of());
        }
    }

    /**
     * Puts together anew what is known of entities.
     *
     * @param without ids of texts that are no more, or not as they were
     * @param with texts that are new
     */
    private void rebuild(
            KnowledgeWriter.Change change,
            String namespace,
            Collection<String> entityIds,
            Set<String> without,
            List<StoredMentions> with)
            throws EmbeddingException, InterruptedException {
        for (String entityId : entityIds) {
            List<StoredMentions> texts = Stream.concat(
                            parts.entities().mentioning(namespace, entityId, MAX_TEXTS).stream()
                                    .filter(text -> !without.contains(text.id())),
                            with.stream()
                                    .filter(text -> text.mentions().stream()
                                            .anyMatch(mention ->
                                                    mention.entityId().equals(entityId))))
                    .sorted(Comparator.comparing(StoredMentions::askedAt).thenComparing(StoredMentions::id))
                    .toList();
            if (texts.isEmpty()) {
                change.remove(List.of(KnowledgeKeys.entity(namespace, entityId)));
                continue;
            }
            Merging.Merged merged = Merging.of(entityId, texts);
            change.entity(new StoredEntity(
                    entityId,
                    namespace,
                    texts.getFirst().scope(),
                    merged.name(),
                    merged.type(),
                    merged.description(),
                    merged.aliases(),
                    parts.embedder().model(),
                    parts.embedder().embed(merged.name()),
                    merged.firstSeenAt(),
                    clock.instant().toString()));
        }
    }

    private List<Place> places(Event event, StoredMentions of, List<Extracted.Found> found, List<float[]> vectors)
            throws IngestException, InterruptedException {
        List<Place> places = new ArrayList<>();
        List<EntityModel.Pair> pairs = new ArrayList<>();
        List<Integer> asked = new ArrayList<>();
        for (int i = 0; i < found.size(); i++) {
            Place place = place(Within.scope(of.namespace(), of.scope()), found.get(i), vectors.get(i));
            places.add(place);
            if (place instanceof Place.Doubtful doubtful) {
                pairs.add(new EntityModel.Pair(found.get(i), doubtful.entity()));
                asked.add(i);
            }
        }
        if (!pairs.isEmpty()) {
            for (int pair : parts.model().same(event, pairs)) {
                places.set(asked.get(pair), new Place.Known(pairs.get(pair).known()));
            }
        }
        return places;
    }

    private Place place(Within within, Extracted.Found found, float[] vector) {
        Embedder.Thresholds thresholds = parts.embedder().thresholds();
        KnowledgeView.Entity otherType = null;
        for (String name :
                Stream.concat(Stream.of(found.name()), found.aliases().stream()).toList()) {
            for (KnowledgeView.Entity known : parts.entities().named(within, name, CANDIDATES)) {
                if (known.type().equals(found.type())) {
                    return new Place.Known(known);
                }
                otherType = otherType == null ? known : otherType;
            }
        }
        if (otherType != null) {
            return new Place.Doubtful(otherType, 1.0);
        }
        List<EntityIndex.Near> near =
                parts.entities().near(within, vector, parts.embedder().model(), thresholds.confirm(), CANDIDATES);
        if (near.isEmpty()) {
            return new Place.New();
        }
        // the nearest may be another kind of thing, or have other numbers, and the one after it be just this one
        for (EntityIndex.Near one : near) {
            if (one.similarity() >= thresholds.merge()
                    && one.entity().type().equals(found.type())
                    && numbers(one.entity().name()).equals(numbers(found.name()))) {
                return new Place.Known(one.entity());
            }
        }
        EntityIndex.Near nearest = near.getFirst();
        return new Place.Doubtful(nearest.entity(), nearest.similarity());
    }

    /** What makes order 4711 another one than order 4712, which no vector tells. */
    private static List<String> numbers(String name) {
        return NUMBER.matcher(name).results().map(MatchResult::group).toList();
    }

    private static String excerpt(String text) {
        String line = text.replaceAll("\\s+", " ").strip();
        if (line.length() <= MAX_EXCERPT) {
            return line;
        }
        int end = Character.isHighSurrogate(line.charAt(MAX_EXCERPT - 1)) ? MAX_EXCERPT - 1 : MAX_EXCERPT;
        return line.substring(0, end) + '…';
    }
}
