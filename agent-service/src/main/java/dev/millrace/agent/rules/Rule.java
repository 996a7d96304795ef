package dev.millrace.agent.rules;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What follows from events of some types.
 *
 * @param id unique among the rules that are in force
 * @param version of what is written below: equal rules have equal versions
 * @param on the types, at least one
 * @param priority higher goes first
 * @param enabled if not, it takes its events all the same, and nothing happens
 * @param filter what has to stand at these paths of the event, as text; empty = nothing has to
 * @param handler what is done with an event
 */
public record Rule(
        String id,
        String version,
        List<TypePattern> on,
        int priority,
        boolean enabled,
        Map<String, String> filter,
        Handler handler) {

    public Rule {
        on = List.copyOf(on);
        filter = Map.copyOf(filter);
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
            @Nullable String prompt,
            @Nullable String systemPrompt,
            boolean includeToolCall,
            String toolName)
            implements Handler {
        /** The tool that tells of events. */
        public static final String EVENT_TOOL = "get_event_info";
    }

    /** What names this version of the rule for ever. */
    public String reference() {
        return id + '@' + version;
    }
}
