package dev.millrace.knowledge.entities;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.knowledge.index.EntityIndex;
import dev.millrace.schemas.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a model has found in a text, within bounds: what is too much or has no name is left out.
 *
 * @param entities no two with the same name and type
 * @param relations between these entities
 */
record Extracted(List<Found> entities, List<Related> relations) {

    static final int MAX_ENTITIES = 100;
    private static final int MAX_RELATIONS = 200;
    private static final int MAX_ALIASES = 20;
    private static final int MAX_NAME = 200;
    private static final int MAX_TYPE = 60;
    private static final int MAX_DESCRIPTION = 500;
    private static final int MAX_LABEL = 100;
    private static final String UNKNOWN_TYPE = "thing";

    /**
     * An entity in the text.
     *
     * @param aliases what the text calls it as well
     */
    record Found(String name, String type, @Nullable String description, List<String> aliases) {

        Found and(Found other) {
            Set<String> names = new LinkedHashSet<>(aliases);
            names.addAll(other.aliases());
            return new Found(
                    name,
                    type,
                    description == null ? other.description() : description,
                    names.stream().limit(MAX_ALIASES).toList());
        }
    }

    /** What the text says of two of them, by their places in the list. */
    record Related(int from, int to, String label) {}

    Extracted {
        entities = List.copyOf(entities);
        relations = List.copyOf(relations);
    }

    /**
     * Reads the answer of a model.
     *
     * @return empty if it is not what was asked for
     */
    static Optional<Extracted> of(String answer) {
        return object(answer).filter(json -> json.path("entities").isArray()).map(Extracted::read);
    }

    /** The JSON object in an answer, which a model may have put into a fence; empty if there is none. */
    static Optional<JsonNode> object(String answer) {
        int begin = answer.indexOf('{');
        int end = answer.lastIndexOf('}');
        if (begin < 0 || end < begin) {
            return Optional.empty();
        }
        try {
            return Optional.of(Json.MAPPER.readTree(answer.substring(begin, end + 1)))
                    .filter(JsonNode::isObject);
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    private static Extracted read(JsonNode json) {
        Map<String, Found> found = new LinkedHashMap<>();
        for (JsonNode one : json.path("entities")) {
            Found entity = found(one);
            if (entity != null && found.size() < MAX_ENTITIES) {
                found.merge(EntityIndex.normalized(entity.name()) + '\n' + entity.type(), entity, Found::and);
            }
        }
        List<Found> entities = new ArrayList<>(found.values());
        Map<String, Integer> places = new LinkedHashMap<>();
        for (int i = 0; i < entities.size(); i++) {
            Found entity = entities.get(i);
            places.putIfAbsent(EntityIndex.normalized(entity.name()), i);
            for (String alias : entity.aliases()) {
                places.putIfAbsent(EntityIndex.normalized(alias), i);
            }
        }
        Set<Related> relations = new LinkedHashSet<>();
        for (JsonNode one : json.path("relations")) {
            Integer from = places.get(EntityIndex.normalized(one.path("from").asText("")));
            Integer to = places.get(EntityIndex.normalized(one.path("to").asText("")));
            String label = text(one.path("label"), MAX_LABEL);
            if (from != null && to != null && label != null && !from.equals(to) && relations.size() < MAX_RELATIONS) {
                relations.add(new Related(from, to, label));
            }
        }
        return new Extracted(entities, new ArrayList<>(relations));
    }

    private static @Nullable Found found(JsonNode one) {
        String name = text(one.path("name"), MAX_NAME);
        if (name == null || EntityIndex.normalized(name).isEmpty()) {
            return null;
        }
        String type = text(one.path("type"), MAX_TYPE);
        Set<String> aliases = new LinkedHashSet<>();
        for (JsonNode alias : one.path("aliases")) {
            String text = text(alias, MAX_NAME);
            if (text != null
                    && !EntityIndex.normalized(text).isEmpty()
                    && !EntityIndex.normalized(text).equals(EntityIndex.normalized(name))
                    && aliases.size() < MAX_ALIASES) {
                aliases.add(text);
            }
        }
        return new Found(
                name,
                type == null ? UNKNOWN_TYPE : type.toLowerCase(Locale.ROOT),
                text(one.path("description"), MAX_DESCRIPTION),
                List.copyOf(aliases));
    }

    private static @Nullable String text(JsonNode node, int max) {
        String text = node.isTextual() ? node.asText().replaceAll("\\s+", " ").strip() : "";
        if (text.isEmpty()) {
            return null;
        }
        if (text.length() <= max) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(max - 1)) ? max - 1 : max;
        return text.substring(0, end);
    }
}
