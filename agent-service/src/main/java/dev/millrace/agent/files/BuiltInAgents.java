package dev.millrace.agent.files;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Agents;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The agents that come with Millrace: files like any other, in the jar. */
public final class BuiltInAgents {

    private static final List<AgentFile> FILES = Stream.of("explore", Agents.DEFAULT, "plan")
            .map(BuiltInAgents::read)
            .toList();

    private BuiltInAgents() {}

    /** Their definitions, as on the topic. */
    public static List<AgentFile> files() {
        return FILES;
    }

    /** The registry as it is before any file is read. */
    public static Agents agents() {
        return agents(null);
    }

    /**
     * The registry as it is before any file is read.
     *
     * @param forUnknown the agent that takes tasks for one that is not there; {@code null} = such tasks are refused
     */
    public static Agents agents(@Nullable String forUnknown) {
        List<AgentDefinition> definitions =
                files().stream().map(AgentFile::definition).toList();
        return new Agents(definitions, forUnknown);
    }

    private static AgentFile read(String name) {
        String resource = "/agents/" + name + "/AGENT.md";
        try (InputStream in = BuiltInAgents.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + resource);
            }
            return AgentFile.ofText(name, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InvalidAgentException e) {
            throw new IllegalStateException(resource + ": " + e.getMessage(), e);
        }
    }
}
