package dev.millrace.agent.kafka;

import dev.millrace.agent.Agents;
import dev.millrace.agent.DefinitionTaker;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.ServedTools;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.files.AgentFile;
import dev.millrace.agent.files.AgentFolder;
import dev.millrace.agent.files.AgentRecords;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.files.DefinitionPublisher;
import dev.millrace.agent.files.RuleRecords;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.schedule.Schedule;
import dev.millrace.agent.schedule.Schedules;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.RecordLoop;
import dev.millrace.kafka.TopicFollower;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Tools and agents as they are now: read from the definitions topic, to which this instance adds the agents that are
 * built in and those of its folder. Built-in ones are put there too, so that a task goes on with the definition that it
 * began with after Millrace itself has changed.
 */
public final class Definitions implements AutoCloseable {

    private static final String TOOL = "tool";
    private static final String CLIENT = "millrace-agent";

    private final Agents agents;
    private final ServedTools tools;
    private final AgentRecords records;
    private final Schedules schedules = new Schedules();
    private final TopicFollower definitions;
    private final MemoryIndex memory;
    private final TopicFollower documents;
    private final DefinitionsWriter writer;
    private final ToolsetWatch toolsets;
    private final AgentFolder folder;

    /**
     * Where agents lie as files.
     *
     * @param folder need not be there
     * @param reload between two looks at it
     */
    public record AgentFiles(Path folder, Duration reload) {}

    /** What is kept as the topics have it. */
    public record Kept(Agents agents, Rules rules, MemoryIndex memory) {}

    /** Reads nothing yet; {@code kafka} says how to reach the brokers. */
    public Definitions(ClientSettings kafka, Topics topics, Kept kept, AgentFiles files) {
        this.agents = kept.agents();
        this.memory = kept.memory();
        this.tools = new ServedTools(new RequestTopics(kafka, topics));
        String topic = topics.definitions();
        this.records = new AgentRecords(agents);
        Map<String, DefinitionTaker> takers = Map.of(
                TOOL,
                tools,
                AgentRecords.KIND,
                records,
                Schedule.KIND,
                schedules,
                RuleRecords.KIND,
                new RuleRecords(kept.rules()));
        this.definitions = new TopicFollower(
                new TopicLog(kafka, topic, CLIENT),
                new TakersByKind(
                        takers::get,
                        takers.values(),
                        () -> takers.values().forEach(DefinitionTaker::beginAnew),
                        this::publishAgain));
        this.documents = new TopicFollower(
                new TopicLog(kafka, topics.memory(), CLIENT),
                new TakersByKind(memory::of, List.of(), memory::clear, () -> {}));
        this.writer = new DefinitionsWriter(kafka, topic);
        this.toolsets = new ToolsetWatch(kafka, topics, tools::toolsets);
        this.folder = new AgentFolder(files.folder(), agents, writer, files.reload());
    }

    /** Begins to read and returns at once. Once. */
    public void start() {
        definitions.start();
        documents.start();
    }

    /** Waits until what was on the topic at the start has been read; false if that takes longer. */
    public boolean awaitCaughtUp(Duration timeout) throws InterruptedException {
        return definitions.awaitCaughtUp(timeout) && documents.awaitCaughtUp(timeout);
    }

    /**
     * After it has caught up: publishes what this instance has to add, and from here on follows its folder and looks
     * who serves the tools. Once.
     */
    public void publishOwn() throws InterruptedException {
        publishBuiltIn();
        folder.start();
        toolsets.start();
    }

    /** The topic was made again, and has been read: what this instance has to add is missing there. */
    private void publishAgain() {
        folder.publishAgain();
        // not on the thread that reads the topic
        Thread.ofVirtual().name("publish-agents").start(() -> {
            try {
                publishBuiltIn();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void publishBuiltIn() throws InterruptedException {
        for (AgentFile builtIn : BuiltInAgents.files()) {
            if (!records.has(builtIn.definition().reference())) {
                writer.publish(AgentRecords.key(builtIn.definition()), builtIn.toJson());
            }
        }
    }

    /** The agents. */
    public Agents agents() {
        return agents;
    }

    /** What memory holds. */
    public MemoryIndex memory() {
        return memory;
    }

    /** The schedules. */
    public Schedules schedules() {
        return schedules;
    }

    /** Puts definitions on the topic. */
    public DefinitionPublisher publisher() {
        return writer;
    }

    /** The tools. */
    public ToolCatalogue tools() {
        return tools;
    }

    /** Who works on the calls of the tools. */
    public ToolsetWatch toolsets() {
        return toolsets;
    }

    /** The files of the folder that are no good. */
    public List<AgentFolder.Problem> problems() {
        return folder.problems();
    }

    /** What reads them. */
    public List<RecordLoop> readers() {
        return List.of(definitions.loop(), documents.loop());
    }

    @Override
    public void close() {
        toolsets.close();
        folder.close();
        definitions.close();
        documents.close();
        writer.close();
    }
}
