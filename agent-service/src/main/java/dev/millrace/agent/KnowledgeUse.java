package dev.millrace.agent;

import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What an agent has of knowledge.
 *
 * @param mode how documents come to it
 * @param collection the one that is looked in for its prompt; {@code null} = all of them
 * @param limit at most so many passages in its prompt, 1 to {@value #MAX_LIMIT}
 * @param entities where the entities of its tasks are kept; {@code null} = they are not looked for
 */
public record KnowledgeUse(
        Mode mode,
        @Nullable String collection,
        int limit,
        @Nullable EntityScope entities) {

    /** The most passages in a prompt. */
    public static final int MAX_LIMIT = 20;

    /** As many as a search gives that says no limit. */
    public static final int DEFAULT_LIMIT = 5;

    /** Of an agent that says nothing about it. */
    public static final KnowledgeUse DEFAULT = new KnowledgeUse(Mode.TOOL, null, DEFAULT_LIMIT, null);

    private static final Set<String> TOOLS =
            Set.of("search_knowledge", "ingest_document", "search_entities", "memory_search");

    /** How documents come to an agent. */
    public enum Mode {
        /** What has to do with the question is in the prompt. */
        AUTO,
        /** It may look things up, as far as its tools say so. */
        TOOL,
        /** Not at all, whatever its tools say. */
        DISABLED;

        /** Its name in definitions. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Where entities are kept: what is one of them here may be another one elsewhere. */
    public enum EntityScope {
        /** For the session, or the task if it has none. */
        THREAD,
        /** For this agent. */
        AGENT,
        /** For the namespace. */
        GLOBAL;

        /** Its name in definitions, and what its name in events begins with. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Whether it does without this tool, since it has nothing of knowledge. */
    boolean isWithout(String toolName) {
        return mode == Mode.DISABLED && TOOLS.contains(toolName);
    }
}
