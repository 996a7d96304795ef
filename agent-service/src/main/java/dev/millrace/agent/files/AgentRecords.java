package dev.millrace.agent.files;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Agents;
import dev.millrace.agent.DefinitionTaker;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Agents as the definitions topic has them: {@code agent/<name>@<version>} is a definition and stays, since a task may
 * run on it; {@code agent/<name>} says which one new tasks get, and a null there takes the agent back.
 */
public final class AgentRecords implements DefinitionTaker {

    /** The kind in the keys. */
    public static final String KIND = "agent";

    private final Agents agents;
    private final Set<String> references = ConcurrentHashMap.newKeySet();

    /** Keeps these up to date. */
    public AgentRecords(Agents agents) {
        this.agents = agents;
    }

    /** Whether the topic has this version. */
    public boolean has(String reference) {
        return references.contains(reference);
    }

    /** The key of a definition. */
    public static String key(AgentDefinition agent) {
        return KIND + '/' + agent.reference();
    }

    /** The key of what is in force under a name. */
    static String key(String name) {
        return KIND + '/' + name;
    }

    /** The value under {@link #key(String)}. */
    static byte[] inForce(AgentDefinition agent) {
        return Json.write(Map.of("name", agent.name(), "version", agent.version()));
    }

    @Override
    public void take(String id, byte @Nullable [] value) throws MalformedEventException {
        if (AgentDefinition.nameIn(id).equals(id)) {
            takeInForce(id, value);
        } else if (value == null) {
            references.remove(id);
            agents.forget(id);
        } else {
            takeDefinition(id, value);
        }
    }

    @Override
    public void beginAnew() {
        references.clear();
        agents.dropAll();
    }

    private void takeInForce(String name, byte @Nullable [] value) throws MalformedEventException {
        if (value == null) {
            agents.drop(name);
        } else if (Json.readObject(value).get("version") instanceof String version && !version.isBlank()) {
            agents.use(name, version);
        } else {
            throw new MalformedEventException("bad_definition", "version: expected a text, found none");
        }
    }

    private void takeDefinition(String id, byte[] value) throws MalformedEventException {
        try {
            AgentDefinition agent = AgentFile.ofJson(value).definition();
            if (!agent.reference().equals(id)) {
                throw new MalformedEventException(
                        "bad_definition", "expected the key " + key(agent) + ", found " + KIND + '/' + id);
            }
            references.add(id);
            agents.add(agent);
        } catch (InvalidAgentException e) {
            throw new MalformedEventException("bad_definition", String.valueOf(e.getMessage()));
        }
    }
}
