package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.HeaderNames;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("ADR 0004: no completed model call is made twice")
class OutstandingCallsTest {

    private final KeyValueStore<String, String> store = Stores.keyValueStoreBuilder(
                    Stores.inMemoryKeyValueStore("calls"), Serdes.String(), Serdes.String())
            .withLoggingDisabled()
            .build();
    private final Recorded modelCalls = new Recorded();

    private static final class Recorded implements ModelCalls<String> {
        final List<String> requested = new ArrayList<>();
        final List<String> fences = new ArrayList<>();
        final List<String> settled = new ArrayList<>();
        final List<Integer> left = new ArrayList<>();

        @Override
        public void request(int partition, String call) {
            requested.add(call);
        }

        @Override
        public void fence(int partition, String value) {
            fences.add(value);
        }

        @Override
        public void settle(String call) {
            settled.add(call);
        }

        @Override
        public void leave(int partition) {
            left.add(partition);
        }
    }

    @BeforeEach
    void open() {
        store.init(new MockProcessorContext<Void, Void>().getStateStoreContext(), store);
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void shouldRepeatWhatIsStillOutBehindTheFence() {
        // given
        store.put("answered", "answered");
        store.put("open", "open");
        OutstandingCalls<String> calls = started();
        assertThat(modelCalls.requested).isEmpty();
        // when: a reply stood before the fence
        calls.settle("answered");
        calls.passFence(fence(modelCalls.fences.getFirst()));
        // then
        assertThat(modelCalls.requested).containsExactly("open");
        assertThat(modelCalls.settled).containsExactly("answered");
    }

    @Test
    void shouldNotRepeatWhatWasAskedForSinceTheStart() {
        // given
        store.put("old", "old");
        OutstandingCalls<String> calls = started();
        // when: it has been made by now, but its reply stands behind the fence
        calls.request("new");
        calls.passFence(fence(modelCalls.fences.getFirst()));
        // then
        assertThat(modelCalls.requested).containsExactly("new", "old");
    }

    @Test
    void shouldPassTheFenceOfAnotherTimeByAndItsOwnOnce() {
        // given
        store.put("open", "open");
        OutstandingCalls<String> calls = started();
        Headers own = fence(modelCalls.fences.getFirst());
        // when
        calls.passFence(fence("of the instance before"));
        // then
        assertThat(modelCalls.requested).isEmpty();
        // when
        calls.passFence(own);
        calls.passFence(own);
        // then
        assertThat(modelCalls.requested).containsExactly("open");
    }

    @Test
    void shouldSayThatItsPartitionIsGivenUp() {
        OutstandingCalls<String> calls = started();
        calls.request("out");

        calls.close();

        assertThat(modelCalls.left).containsExactly(0);
        assertThat(modelCalls.settled).isEmpty();
    }

    @Test
    void shouldSetNoFenceIfNothingIsOut() {
        started();
        assertThat(modelCalls.fences).isEmpty();
    }

    @Test
    void shouldLeaveOtherRecordsToTheMachine() {
        assertThat(OutstandingCalls.isFence(fence("x"), null)).isTrue();
        assertThat(OutstandingCalls.isFence(new RecordHeaders(), null)).isFalse();
        assertThat(OutstandingCalls.isFence(fence("x"), new byte[] {1})).isFalse();
    }

    private OutstandingCalls<String> started() {
        OutstandingCalls<String> calls = new OutstandingCalls<>(
                store, Function.identity(), modelCalls, 0, UnaryOperator.identity(), Runnable::run);
        calls.fenceOff();
        return calls;
    }

    private static Headers fence(String value) {
        return new RecordHeaders().add(HeaderNames.FENCE, value.getBytes(StandardCharsets.UTF_8));
    }
}
