package dev.millrace.agent.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Agents;
import dev.millrace.schemas.MalformedEventException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentFolderTest {

    private static final String FILE = """
            ---
            description: %s
            tools: [read_file]
            ---
            You are %s.
            """;

    @TempDir
    private Path root;

    private final Agents agents = BuiltInAgents.agents();
    private final Topic topic = new Topic();

    @Test
    @DisplayName("an agent of the folder is there, and goes before a built-in one of its name")
    void shouldPublishWhatIsThere() throws Exception {
        write("clerk", FILE.formatted("a clerk", "a clerk"));
        write("plan", FILE.formatted("our planner", "a planner"));

        folder().look(true);

        AgentDefinition clerk = agents.of("clerk");
        assertThat(clerk.description()).isEqualTo("a clerk");
        assertThat(agents.of("plan").description()).isEqualTo("our planner");
        assertThat(topic.keys)
                .containsExactlyInAnyOrder(
                        "agent/clerk@" + clerk.version(),
                        "agent/clerk",
                        "agent/plan@" + agents.of("plan").version(),
                        "agent/plan");
        Agents elsewhere = topic.read();
        assertThat(elsewhere.of("clerk")).isEqualTo(clerk);
        assertThat(elsewhere.all()).hasSize(4);
    }

    @Test
    @DisplayName("a changed file is a new version; a task that began with the old one keeps it")
    void shouldKeepOldVersions() throws Exception {
        AgentFolder folder = folder();
        write("clerk", FILE.formatted("a clerk", "a clerk"));
        folder.look(true);
        AgentDefinition first = agents.of("clerk");

        write("clerk", FILE.formatted("a better clerk", "a clerk"));
        folder.look(false);
        assertThat(agents.of("clerk"))
                .as("one look could have seen half a file")
                .isEqualTo(first);
        folder.look(false);

        assertThat(agents.of("clerk").description()).isEqualTo("a better clerk");
        assertThat(agents.of(first.reference())).isEqualTo(first);
        assertThat(topic.read().of(first.reference())).as("after a restart").isEqualTo(first);
    }

    @Test
    @DisplayName("a file that goes takes its agent along, and the built-in one is back")
    void shouldTakeBackWhatIsGone() throws Exception {
        AgentFolder folder = folder();
        write("clerk", FILE.formatted("a clerk", "a clerk"));
        write("plan", FILE.formatted("our planner", "a planner"));
        folder.look(true);
        AgentDefinition clerk = agents.of("clerk");

        Files.delete(root.resolve("clerk/AGENT.md"));
        Files.delete(root.resolve("plan/AGENT.md"));
        folder.look(false);
        folder.look(false);

        assertThat(agents.current("clerk")).isEmpty();
        assertThat(agents.find("clerk")).isEmpty();
        assertThat(agents.of("plan").description()).startsWith("Works out a plan");
        assertThat(agents.of(clerk.reference())).isEqualTo(clerk);
        assertThat(topic.read().all()).hasSize(3);
    }

    @Test
    @DisplayName("a broken file is told, and the last good version stays in force")
    void shouldKeepTheLastGoodVersion() throws Exception {
        AgentFolder folder = folder();
        write("clerk", FILE.formatted("a clerk", "a clerk"));
        folder.look(true);
        AgentDefinition good = agents.of("clerk");

        write("clerk", "---\ndescription: [\n---\nYou are.");
        folder.look(false);
        folder.look(false);

        assertThat(agents.of("clerk")).isEqualTo(good);
        assertThat(folder.problems()).singleElement().satisfies(problem -> {
            assertThat(problem.file()).endsWith("clerk/AGENT.md");
            assertThat(problem.problem()).startsWith("line ").contains("not YAML");
        });

        write("clerk", FILE.formatted("a clerk again", "a clerk"));
        folder.look(false);
        folder.look(false);
        assertThat(folder.problems()).isEmpty();
        assertThat(agents.of("clerk").description()).isEqualTo("a clerk again");
    }

    @Test
    @DisplayName("a broken file at the start leaves what the topic has")
    void shouldKeepWhatTheTopicHasForABrokenFile() throws Exception {
        write("clerk", FILE.formatted("a clerk", "a clerk"));
        folder().look(true);
        write("clerk", "nothing");

        Agents restarted = topic.read();
        new AgentFolder(root, restarted, topic, Duration.ofSeconds(1)).look(true);

        assertThat(restarted.of("clerk").description()).isEqualTo("a clerk");
    }

    @Test
    @DisplayName("an instance without a folder says nothing, and one whose folder vanishes takes nothing back")
    void shouldSayNothingWithoutAFolder() throws Exception {
        AgentFolder folder = folder();
        write("clerk", FILE.formatted("a clerk", "a clerk"));
        folder.look(true);

        Agents elsewhere = topic.read();
        AgentFolder missing = new AgentFolder(root.resolve("missing"), elsewhere, topic, Duration.ofSeconds(1));
        missing.look(true);
        Path moved = Files.move(root, root.resolveSibling(root.getFileName() + "-moved"));
        folder.look(false);
        folder.look(false);

        assertThat(elsewhere.of("clerk").name()).isEqualTo("clerk");
        assertThat(agents.of("clerk").name()).isEqualTo("clerk");
        assertThat(missing.problems()).isEmpty();
        assertThat(folder.problems())
                .singleElement()
                .satisfies(problem ->
                        assertThat(problem.problem()).isEqualTo("the folder is gone; its agents stay as they are"));
        Files.move(moved, root);
    }

    @Test
    @DisplayName("what could not be stored is stored later, and what is in force is not stored again")
    void shouldTryAgain() throws Exception {
        AgentFolder folder = folder();
        write("clerk", FILE.formatted("a clerk", "a clerk"));
        topic.away = true;
        folder.look(true);
        assertThat(agents.current("clerk")).isEmpty();

        topic.away = false;
        folder.look(false);
        assertThat(agents.current("clerk")).isPresent();
        int stored = topic.keys.size();
        folder.look(false);
        new AgentFolder(root, agents, topic, Duration.ofSeconds(1)).look(true);
        assertThat(topic.keys).hasSize(stored);
    }

    @Test
    @DisplayName("what is no text, too large or has a bad name is a problem of that file alone")
    void shouldTellBadFiles() throws Exception {
        write("Bad Name", FILE.formatted("d", "p"));
        write("large", FILE.formatted("d", "p".repeat(AgentFile.MAX_CHARS)));
        Files.createDirectories(root.resolve("bytes"));
        Files.write(root.resolve("bytes/AGENT.md"), new byte[] {'-', '-', '-', '\n', (byte) 0xff, (byte) 0xfe});
        write(".hidden", "nothing");
        Files.createDirectories(root.resolve("empty"));
        write("clerk", FILE.formatted("a clerk", "a clerk"));
        AgentFolder folder = folder();

        folder.look(true);

        assertThat(folder.problems())
                .extracting(problem -> root.relativize(Path.of(problem.file())) + ": " + problem.problem())
                .satisfiesExactly(
                        bad -> assertThat(bad).startsWith("Bad Name/AGENT.md: name: expected"),
                        bytes -> assertThat(bytes).isEqualTo("bytes/AGENT.md: expected UTF-8 text, found other bytes"),
                        large -> assertThat(large).startsWith("large/AGENT.md: expected at most 200000 characters"));
        assertThat(agents.current("clerk")).isPresent();
    }

    private AgentFolder folder() {
        return new AgentFolder(root, agents, topic, Duration.ofSeconds(1));
    }

    private void write(String name, String text) throws IOException {
        Files.createDirectories(root.resolve(name));
        Files.writeString(root.resolve(name).resolve("AGENT.md"), text);
    }

    /** The topic, as far as it matters: what was put there, in order. */
    private static final class Topic implements DefinitionPublisher {
        private final List<String> keys = new ArrayList<>();
        private final List<byte @Nullable []> values = new ArrayList<>();
        private boolean away;

        @Override
        public boolean publish(String key, byte @Nullable [] value) {
            if (!away) {
                keys.add(key);
                values.add(value);
            }
            return !away;
        }

        Agents read() throws MalformedEventException {
            Agents agents = BuiltInAgents.agents();
            AgentRecords records = new AgentRecords(agents);
            for (int i = 0; i < keys.size(); i++) {
                records.take(keys.get(i).substring("agent/".length()), values.get(i));
            }
            return agents;
        }
    }
}
