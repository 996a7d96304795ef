package dev.millrace.agent.rules;

import dev.millrace.agent.expressions.Expression;
import dev.millrace.agent.expressions.UndecidableException;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.JsonObject;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What follows from events of some types.
 *
 * @param id unique among the rules that are in force
 * @param source what it was read from
 * @param on the types, at least one
 * @param priority higher goes first
 * @param enabled if not, it takes its events all the same, and nothing happens
 * @param terms which events of these types it takes, and when something is done with them
 * @param handler what is done with an event
 */
public record Rule(
        String id, Source source, List<TypePattern> on, int priority, boolean enabled, Terms terms, Handler handler) {

    public Rule {
        on = List.copyOf(on);
    }

    /**
     * Which events of its types a rule takes, and when something is done with them.
     *
     * @param filter what has to stand in the event; empty = nothing has to
     * @param when what has to hold; {@code null} = nothing has to
     * @param debounce how long it has to be quiet first; {@code null} = something is done at once
     */
    public record Terms(
            List<Wanted> filter,
            @Nullable Expression when,
            @Nullable Debounce debounce) {
        /** Every event, at once. */
        public static final Terms NONE = new Terms(List.of(), null, null);

        public Terms {
            filter = List.copyOf(filter);
        }
    }

    /**
     * Of events that come quickly one after another only the last one counts.
     *
     * @param quietMs how long no other one has come then, in milliseconds, 1 to {@link #MAX_MS}
     * @param key which events of a session are such, a template over the event; {@code null} = all that the rule takes
     */
    public record Debounce(long quietMs, @Nullable InputTemplate key) {
        /** The longest time: an hour. */
        public static final long MAX_MS = 3_600_000;
    }

    /** What {@link Terms#when} may be about; {@code type} is a word of the language's own. */
    public static final Expression.Names NAMES =
            Expression.Names.of(List.of("event_id", "event_type", "event_time"), List.of("metadata", "payload"));

    /**
     * What a rule was read from.
     *
     * @param version of the fields: equal ones have equal versions
     * @param fields as somebody has written them
     */
    public record Source(String version, JsonObject fields) {}

    /**
     * What has to stand at a path of the event, as text.
     *
     * @param path a template of this path alone, which is empty if it leads nowhere
     */
    public record Wanted(InputTemplate path, String text) {
        /** At this path. */
        public static Wanted at(String path, String text) {
            return new Wanted(new InputTemplate("{{" + path + "|}}"), text);
        }

        boolean isIn(JsonObject event) {
            return text.equals(path.fill(event).orElse(""));
        }
    }

    /**
     * Whether it takes an event of its types.
     *
     * @param event what templates look into; asked for only if it matters
     * @throws UndecidableException if the event has nothing that the condition could be about
     */
    public boolean takes(Supplier<JsonObject> event) throws UndecidableException {
        Expression when = terms.when();
        if (terms.filter().isEmpty() && when == null) {
            return true;
        }
        JsonObject shown = event.get();
        return terms.filter().stream().allMatch(wanted -> wanted.isIn(shown)) && (when == null || holds(when, shown));
    }

    private static boolean holds(Expression when, JsonObject shown) throws UndecidableException {
        int chars = Expression.chars(shown);
        if (chars > Expression.MAX_CHARS) {
            throw new UndecidableException(
                    "expected an event of at most " + Expression.MAX_CHARS + " characters, found " + chars, true);
        }
        return when.holds(JsonObject.builder()
                .put("event_id", shown.get("id"))
                .put("event_type", shown.get("type"))
                .put("event_time", shown.get("timestamp"))
                .put("metadata", shown.get("metadata"))
                .put("payload", shown.get("payload"))
                .build());
    }

    /** The version of what is written in it. */
    public String version() {
        return source.version();
    }

    /** What is done with an event. */
    public sealed interface Handler {}

    /** It is noted. */
    public record Log() implements Handler {}

    /** It is run as what somebody asks: the way of every message. */
    public record Query() implements Handler {}

    /**
     * An agent looks at it, in the session of the event and anew for each.
     *
     * @param agent its name
     * @param prompt what it is asked, a template over the event; {@code null} = {@code Process event: <type>}
     * @param systemPrompt what it is told before everything else, a template; {@code null} = nothing
     * @param includeToolCall whether it is shown the event, and not only that there is one
     * @param toolName the tool as whose result it is shown
     * @param retries how often it is given the event again if a model call fails for good, 0 to {@link #MAX_RETRIES}
     */
    public record AgentHandler(
            String agent,
            @Nullable InputTemplate prompt,
            @Nullable InputTemplate systemPrompt,
            boolean includeToolCall,
            String toolName,
            int retries)
            implements Handler {
        /** The most attempts after the first. */
        public static final int MAX_RETRIES = 3;

        /** The tool that tells of events. */
        public static final String EVENT_TOOL = "get_event_info";
    }

    /**
     * A tool is called, and no model.
     *
     * @param tool its name
     * @param arguments templates over the event
     * @param agent on whose behalf: what it may not call is refused
     */
    public record CallHandler(String tool, Arguments arguments, String agent) implements Handler {}

    /** What names this version of the rule for ever. */
    public String reference() {
        return id + '@' + source.version();
    }
}
