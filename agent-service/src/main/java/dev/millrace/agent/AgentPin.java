package dev.millrace.agent;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The agent of one task, as it was when the task began; the task stays on it to its end.
 *
 * @param reference which version of which agent, see {@link AgentDefinition#reference}
 * @param model the name of a model that the task asked for; {@code null} = the agent's own
 * @param fields values of the prompt's fields
 * @param above references of the agents of the tasks that led to this one, the nearest first: the task may do nothing
 *     that one of them may not
 */
public record AgentPin(String reference, @Nullable String model, Map<String, String> fields, List<String> above) {

    /** What stands for the agent of a task that does not exist. */
    public static final AgentPin NONE = new AgentPin(Agents.DEFAULT, null, Map.of());

    /** The field that says who takes part in the task's session, if several do. */
    public static final String PARTICIPANTS = "session.participants";

    public AgentPin {
        // sorted, so that what is stored does not depend on chance
        fields = Collections.unmodifiableMap(new TreeMap<>(fields));
        // what was stored before sub-tasks were bound by their parents has none
        above = above == null ? List.of() : List.copyOf(above);
    }

    /** Of a task that no other task started. */
    public AgentPin(String reference, @Nullable String model, Map<String, String> fields) {
        this(reference, model, fields, List.of());
    }

    /** What binds a task that this one starts: this agent, and what binds it. */
    public List<String> binding() {
        return Stream.concat(Stream.of(reference), above.stream()).distinct().toList();
    }
}
