package dev.millrace.tools.skills;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Gives a model the text of a skill. Which skills there are, and when they are of use, stands in the tool's
 * description: so every model that may call it, and no other, is told with each request.
 */
public final class UseSkill implements CallableTool {

    private static final String NAME = "name";

    private final Map<String, Skill> skills;
    private final ToolDefinition definition;

    /**
     * For these.
     *
     * @param skills at least one, with names that differ
     */
    public UseSkill(List<Skill> skills) {
        this.skills = skills.stream().collect(Collectors.toUnmodifiableMap(Skill::name, skill -> skill));
        this.definition = new ToolDefinition(
                "use_skill",
                "Reads how something is done here. Use it before you do one of these:"
                        + skills.stream()
                                .map(skill -> "\n- " + skill.name() + ": " + skill.description())
                                .collect(Collectors.joining()),
                JsonObject.of(Map.of(
                        "type",
                        "object",
                        "properties",
                        Map.of(NAME, Map.of("type", "string", "maxLength", 100, "description", "Which one.")),
                        "required",
                        List.of(NAME))),
                Topics.BUILT_IN_TOOLSET,
                5_000,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Object call(JsonObject params, ToolContext context) throws ToolException {
        Skill skill = skills.get(String.valueOf(params.get(NAME)));
        if (skill == null) {
            throw new ToolException(
                    "unknown_skill",
                    "name: expected one of " + skills.keySet().stream().sorted().toList() + ", found \""
                            + params.get(NAME) + '"');
        }
        return Map.of(NAME, skill.name(), "content", skill.text());
    }
}
