package dev.millrace.api;

import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A rule: what follows from events of some types; docs/rules.md says what each part means. */
@Schema(name = "Rule", description = "What follows from events of some types. docs/rules.md says what each part means.")
public record RuleView(
        String id,

        @Schema(description = "The types of events: names, beginnings such as order.*, or *.")
        List<String> on,

        @Schema(description = "Higher goes first.") int priority,

        @Schema(description = "If not, it takes its events all the same, and nothing happens.")
        boolean enabled,

        @Schema(
                description = "What is done with an event.",
                enumeration = {"agent", "call", "log", "query"})
        String handler,

        @Schema(description = "Which content this is; journalled events that it takes name it.")
        String version,

        @Schema(
                description = "Where it comes from. A definition stands above a file, and that above what is built in.",
                enumeration = {"built-in", "file", "definition"})
        String source,

        @Schema(description = "The rule as it is written, and as PUT takes it.")
        Map<String, @Nullable Object> rule) {

    // written out, since javac forgets in compact form that the map's values may be null
    public RuleView(
            String id,
            List<String> on,
            int priority,
            boolean enabled,
            String handler,
            String version,
            String source,
            Map<String, @Nullable Object> rule) {
        this.id = id;
        this.on = List.copyOf(on);
        this.priority = priority;
        this.enabled = enabled;
        this.handler = handler;
        this.version = version;
        this.source = source;
        this.rule = rule;
    }

    /** Those that are in force. */
    @Schema(name = "Rules")
    public record All(
            @Schema(description = "By priority, the highest first.")
            List<RuleView> rules) {}
}
