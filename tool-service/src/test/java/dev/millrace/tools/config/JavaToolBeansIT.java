package dev.millrace.tools.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.BrokerResource;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import dev.millrace.tool.api.ToolContext;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Alternative;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@RequiresBroker
@QuarkusTest
@QuarkusTestResource(BrokerResource.class)
@TestProfile(JavaToolBeansIT.WithABean.class)
class JavaToolBeansIT {

    private final TestBroker broker = TestBroker.shared();
    private final Topics topics;

    JavaToolBeansIT(@ConfigProperty(name = "millrace.topics.prefix") String prefix) {
        topics = new Topics(prefix);
    }

    /** A bean that nobody injects, as users write them. */
    @Alternative
    @ApplicationScoped
    public static class Till {
        private int sold;

        /** Counts, which shows that it is one object. */
        @Tool("Sells some of something.")
        public String sell(@P("What.") String what, int count, ToolContext context) {
            sold += count;
            return sold + " " + what + " for " + context.taskId();
        }
    }

    /** Without this the other tests would have the bean as well. */
    public static class WithABean implements QuarkusTestProfile {
        @Override
        public Set<Class<?>> getEnabledAlternatives() {
            return Set.of(Till.class);
        }

        /** A second application in one JVM does not find the name that the first was built with. */
        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of("quarkus.application.name", "millrace-tools");
        }
    }

    @Test
    @DisplayName("a bean's method with @Tool is a tool: published, checked, called")
    void shouldServeTheMethodsOfBeans() {
        // when
        Event first = ask("call-1", Map.of("what", "flour", "count", 2));
        Event second = ask("call-2", Map.of("what", "flour", "count", 3));
        Event wrong = ask("call-3", Map.of("what", "flour", "count", "many"));
        // then
        assertThat(first.fields()).containsEntry("result", "2 flour for task-1");
        assertThat(second.fields()).containsEntry("result", "5 flour for task-1");
        assertThat(wrong.text("code")).isEqualTo("invalid_arguments");
        try (TopicReader reader = broker.read(topics.definitions())) {
            assertThat(reader.until(
                            definitions -> definitions.stream().anyMatch(each -> "tool/sell".equals(each.key())),
                            Duration.ofSeconds(30)))
                    .isNotEmpty();
        }
    }

    private Event ask(String callId, Map<String, Object> params) {
        broker.produce(
                topics.requests(Topics.BUILT_IN_TOOLSET),
                Event.root("request-" + callId, KnownEventType.TOOL_CALL_REQUESTED, Instant.now())
                        .taskId("task-1")
                        .parentEventId("parent-1")
                        .correlationId("root-1")
                        .payload(Map.of("callId", callId, "toolName", "sell", "params", params))
                        .build());
        try (TopicReader replies = broker.read(topics.lane(Segment.TOOL))) {
            return replies.event(event -> callId.equals(event.text("callId")), Duration.ofSeconds(30));
        }
    }
}
