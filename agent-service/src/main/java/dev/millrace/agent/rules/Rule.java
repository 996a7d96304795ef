package dev.millrace.agent.rules;

import dev.millrace.schemas.InputTemplate;
import java.util.List;
import java.util.Map;
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
 * @param filter what has to stand in the event; empty = nothing has to
 * @param handler what is done with an event
 */
public record Rule(
        String id,
        Source source,
        List<TypePattern> on,
        int priority,
        boolean enabled,
        List<Wanted> filter,
        Handler handler) {

    public Rule {
        on = List.copyOf(on);
        filter = List.copyOf(filter);
    }

    /**
     * What a rule was read from.
     *
     * @param version of the fields: equal ones have equal versions
     * @param fields as somebody has written them
     */
    public record Source(String version, Map<String, @Nullable Object> fields) {}

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

        boolean isIn(Map<String, ? extends @Nullable Object> event) {
            return text.equals(path.fill(event).orElse(""));
        }
    }

    /**
     * Whether it takes an event of its types.
     *
     * @param event what templates look into; asked for only if it matters
     */
    public boolean takes(Supplier<? extends Map<String, ? extends @Nullable Object>> event) {
        if (filter.isEmpty()) {
            return true;
        }
        Map<String, ? extends @Nullable Object> shown = event.get();
        return filter.stream().allMatch(wanted -> wanted.isIn(shown));
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
     */
    public record AgentHandler(
            String agent,
            @Nullable InputTemplate prompt,
            @Nullable InputTemplate systemPrompt,
            boolean includeToolCall,
            String toolName)
            implements Handler {
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
