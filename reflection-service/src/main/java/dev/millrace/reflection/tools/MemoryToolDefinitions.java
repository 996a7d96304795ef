package dev.millrace.reflection.tools;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.reflection.core.MemoryTools;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import dev.millrace.schemas.Topics;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The memory tools as models see them. */
public final class MemoryToolDefinitions {

    private static final String PATH = "facts/<name>.md, such as facts/user.md, or episodes/YYYY-MM.md.";

    private MemoryToolDefinitions() {}

    /** All of them. */
    public static List<ToolDefinition> all() {
        return List.of(
                tool(
                        MemoryTools.LIST,
                        "Lists the documents of memory, which lasts across conversations: path, summary and size of"
                                + " each, by path. If there are more than fit, the last item says how many, and the"
                                + " cursor that gives the next page.",
                        SideEffects.READ_ONLY,
                        Map.of(
                                "limit",
                                "At most so many of them, 1 to 1000. Absent = 200.",
                                "cursor",
                                "What the last item of the page before says. Absent = from the first on.")),
                tool(
                        MemoryTools.READ,
                        "Reads a document of memory.",
                        SideEffects.READ_ONLY,
                        Map.of("path", PATH),
                        "path"),
                tool(
                        MemoryTools.WRITE,
                        "Writes a document of memory whole, in place of what it was. A document of facts has at most"
                                + " 15 KB. Give it a heading and below it a line \"> Summary: …\", which is all that is"
                                + " seen of it before it is read.",
                        SideEffects.IDEMPOTENT,
                        Map.of("path", PATH, "content", "The whole document, markdown."),
                        "path",
                        "content"),
                tool(
                        MemoryTools.PATCH,
                        "Replaces a text in a document of memory. The old text has to be in it exactly once.",
                        SideEffects.DESTRUCTIVE,
                        Map.of(
                                "path",
                                PATH,
                                "old_str",
                                "The text to replace, exactly as it stands in the document.",
                                "new_str",
                                "The text to put there; empty = take it out."),
                        "path",
                        "old_str",
                        "new_str"),
                tool(
                        MemoryTools.APPEND,
                        "Adds an entry to the end of a document of memory, which is made if it is not there.",
                        SideEffects.DESTRUCTIVE,
                        Map.of(
                                "path",
                                PATH,
                                "entry",
                                "What to add, markdown.",
                                "summary",
                                "What the document's line \"> Summary: …\" is to say from now on. Absent = as before."),
                        "path",
                        "entry"));
    }

    private static ToolDefinition tool(
            String name,
            String description,
            SideEffects sideEffects,
            Map<String, String> properties,
            String... required) {
        ObjectNode parameters = Json.MAPPER.createObjectNode().put("type", "object");
        ObjectNode described = parameters.putObject("properties");
        new TreeMap<>(properties)
                .forEach((property, meaning) -> described
                        .putObject(property)
                        .put("type", property.equals("limit") ? "integer" : "string")
                        .put("description", meaning));
        ArrayNode named = parameters.putArray("required");
        List.of(required).forEach(named::add);
        parameters.put("additionalProperties", false);
        return new ToolDefinition(
                name,
                description,
                Json.MAPPER.convertValue(parameters, new TypeReference<>() {}),
                Topics.MEMORY_TOOLSET,
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                sideEffects);
    }
}
