package dev.millrace.agent;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The agent of one task, as it was when the task began; the task stays on it to its end.
 *
 * @param reference which version of which agent, see {@link AgentDefinition#reference}
 * @param model the name of a model that the task asked for; {@code null} = the agent's own
 * @param fields values of the prompt's fields
 */
public record AgentPin(String reference, @Nullable String model, Map<String, String> fields) {

    /** What stands for the agent of a task that does not exist. */
    public static final AgentPin NONE = new AgentPin(Agents.DEFAULT, null, Map.of());

    public AgentPin {
        // sorted, so that what is stored does not depend on chance
        fields = Collections.unmodifiableMap(new TreeMap<>(fields));
    }
}
