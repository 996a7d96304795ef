package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a machine's rows leave in their changelog; the driver commits after each record. */
class ChangelogTest {

    @TempDir
    private Path folder;

    private TopologyTestDriver driver;
    private TestInputTopic<String, String> input;
    private TestOutputTopic<String, String> changelog;

    /** Takes {@code put KEY} and {@code delete KEY}, comma between them, each as a unit of work. */
    private static final class Steps implements Processor<String, String, byte[], Outgoing> {

        @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
        private UnitOfWork unit;

        @Override
        public void init(ProcessorContext<byte[], Outgoing> context) {
            unit = new UnitOfWork(context, new Topics("t."), context.getStateStore("rows"), () -> {});
        }

        @Override
        public void process(Record<String, String> steps) {
            for (String step : steps.value().split(",", -1)) {
                Bytes key = Bytes.wrap(step.substring(step.indexOf(' ') + 1).getBytes(StandardCharsets.UTF_8));
                assertThat(unit.attempt(() -> unit.rows().put(key, step.startsWith("put") ? new byte[] {'v'} : null)))
                        .isEmpty();
            }
        }
    }

    @BeforeEach
    void open() {
        Topology topology = new Topology();
        topology.addSource("lane", new StringDeserializer(), new StringDeserializer(), "lane");
        topology.addProcessor("machine", Steps::new, "lane");
        topology.addStateStore(StoreSection.store("rows"), "machine");
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        settings.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
        driver = new TopologyTestDriver(topology, settings);
        input = driver.createInputTopic("lane", new StringSerializer(), new StringSerializer());
        Deserializer<String> text = Serdes.String().deserializer();
        changelog = driver.createOutputTopic("app-rows-changelog", text, text);
    }

    @AfterEach
    void close() {
        driver.close();
    }

    @Test
    void shouldHaveNothingOfARowThatCameAndWentBetweenTwoCommits() {
        assertThat(written("put a,delete a,put b")).containsExactly("b=v");
    }

    @Test
    void shouldHaveTheDeletionOfARowThatWasCommitted() {
        assertThat(written("put a")).containsExactly("a=v");
        assertThat(written("delete a")).containsExactly("a=null");
        assertThat(written("delete a")).isEmpty();
    }

    @Test
    void shouldHaveTheDeletionOfACommittedRowThatWasWrittenAgain() {
        assertThat(written("put a")).containsExactly("a=v");
        assertThat(written("put a,delete a")).containsExactly("a=null");
        assertThat(written("put a,delete a,put a")).containsExactly("a=v");
    }

    private List<String> written(String steps) {
        input.pipeInput("key", steps);
        List<String> records = new ArrayList<>();
        changelog.readKeyValuesToList().forEach(record -> records.add(record.key + '=' + record.value));
        return records;
    }
}
