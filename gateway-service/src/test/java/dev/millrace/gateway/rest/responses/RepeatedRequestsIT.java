package dev.millrace.gateway.rest.responses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.gateway.rest.chat.ChatException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.vertx.core.http.HttpServerResponse;
import jakarta.inject.Inject;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Whether clients of OpenAI's API are to repeat a request: not once its task may have begun. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
@TestProfile(RepeatedRequestsIT.Impatient.class)
class RepeatedRequestsIT {

    /** Nothing is waited for. */
    public static final class Impatient implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of("millrace.gateway.openai.timeout", "1s", "millrace.gateway.produce-timeout", "1500ms");
        }
    }

    private final GatewayClient gateway = new GatewayClient();
    private final ResponseRuns runs;

    @Inject
    RepeatedRequestsIT(ResponseRuns runs) {
        this.runs = runs;
    }

    @AfterEach
    void goOn() {
        Thread.interrupted();
    }

    @Test
    @DisplayName("a task that took too long is a timeout, also if it cannot be cancelled; and what the brokers do not"
            + " acknowledge may be stored: neither is to be repeated")
    void shouldNotHaveRepeatedWhatMayHaveBegun() throws Exception {
        // when: requests to cancel are not taken
        delete(Set.of(gateway.topics().lane(Segment.SYSTEM)));
        List<Answer> late = List.of(chat(), response());
        // and then nothing is
        delete(gateway.topics().lanes().stream()
                .filter(lane -> !lane.equals(gateway.topics().lane(Segment.SYSTEM)))
                .toList());
        List<Answer> uncertain = List.of(chat(), response());

        // then
        assertThat(late).allSatisfy(answer -> {
            assertThat(answer.status()).as(answer.body()).isEqualTo(504);
            assertThat(answer.body()).contains("\"code\":\"timeout\"");
            assertThat(answer.header("x-should-retry")).isEqualTo("false");
        });
        assertThat(uncertain).allSatisfy(answer -> {
            assertThat(answer.status()).as(answer.body()).isEqualTo(503);
            assertThat(answer.body()).contains("\"code\":\"broker_unavailable\"");
            assertThat(answer.header("x-should-retry")).isEqualTo("false");
        });
    }

    @Test
    @DisplayName("what goes on although this instance stops is not to be repeated")
    void shouldNotHaveRepeatedWhatGoesOn() {
        // given
        ResponseStory.Asked asked =
                ResponseStory.Asked.before(Event.root(Ids.random(), KnownEventType.MESSAGE_RECEIVED, Instant.now())
                        .source("user")
                        .payload(Map.of("text", "hello"))
                        .build());
        HttpServerResponse client = (HttpServerResponse) Proxy.newProxyInstance(
                HttpServerResponse.class.getClassLoader(),
                new Class<?>[] {HttpServerResponse.class},
                (proxy, method, arguments) -> false);

        // when, then
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> runs.whole(asked, client)).isInstanceOfSatisfying(ChatException.class, e -> {
            assertThat(e.response().getStatus()).isEqualTo(503);
            assertThat(e.response().getHeaderString("x-should-retry")).isEqualTo("false");
            assertThat(String.valueOf(e.response().getEntity())).contains("shutting_down");
        });
    }

    private Answer chat() throws IOException, InterruptedException {
        return gateway.postJson(
                "/v1/chat/completions",
                Map.of("model", "general", "messages", List.of(Map.of("role", "user", "content", "hello"))));
    }

    private Answer response() throws IOException, InterruptedException {
        return gateway.postJson("/v1/responses", Map.of("model", "general", "input", "hello"));
    }

    private static void delete(Collection<String> topics) throws Exception {
        TestBroker.shared().admin().deleteTopics(topics).all().get(TestBroker.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    }
}
