package dev.millrace.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.ToolPublisher;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@RequiresBroker
class ToolPublisherIT {

    private final TestBroker broker;
    private final Topics topics;
    private final ToolPublisher publisher;

    ToolPublisherIT(TestBroker broker) {
        this.broker = broker;
        this.topics = broker.createTopics();
        this.publisher =
                new ToolPublisher(ClientSettings.at(broker.bootstrapServers()), topics, Topics.BUILT_IN_TOOLSET);
    }

    @Test
    void shouldTakeBackWhatIsNoMoreAndLeaveWhatIsNotItsOwn() throws InterruptedException {
        // given
        publisher.publish(
                List.of(tool("stays", "tool"), tool("goes", "tool"), tool("server__away", "tool")), name -> false);
        publishAsAStranger(tool("stranger", "billing"));
        // when
        int written = publisher.publish(List.of(tool("stays", "tool")), "server__away"::equals);
        int again = publisher.publish(List.of(tool("stays", "tool")), "server__away"::equals);
        // then
        assertThat(written).isEqualTo(1);
        assertThat(again).isZero();
        try (TopicReader reader = broker.read(topics.definitions())) {
            assertThat(reader.untilCount(5, Duration.ofSeconds(20)))
                    .extracting(definition -> definition.key() + (definition.value() == null ? " taken back" : ""))
                    .containsExactlyInAnyOrder(
                            "tool/stays", "tool/goes", "tool/server__away", "tool/stranger", "tool/goes taken back");
        }
    }

    @Test
    void shouldKnowThatWhatItPublishedIsLost() throws InterruptedException {
        // given
        List<ToolDefinition> tools = List.of(tool("stays", "tool"));
        publisher.publish(tools, name -> false);
        assertThat(publisher.isOutdated()).isFalse();
        // when
        broker.makeAgain(topics, topics.definitions(), TestBroker.DEFAULT_PARTITIONS);
        // then
        assertThat(publisher.isOutdated()).isTrue();
        assertThat(publisher.publish(tools, name -> false)).isEqualTo(1);
        assertThat(publisher.isOutdated()).isFalse();
    }

    @AfterEach
    void close() {
        publisher.close();
    }

    private void publishAsAStranger(ToolDefinition tool) {
        broker.produceRaw(topics.definitions(), ToolDefinition.key(tool.name()), Map.of(), tool.toJson());
    }

    private static ToolDefinition tool(String name, String toolset) {
        return new ToolDefinition(
                name,
                "does " + name,
                JsonObject.of(Map.of("type", "object")),
                toolset,
                1_000,
                ToolDefinition.SideEffects.READ_ONLY);
    }
}
