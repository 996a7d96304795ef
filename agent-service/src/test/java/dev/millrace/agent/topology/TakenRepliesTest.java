package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.HeaderNames;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TakenRepliesTest {

    private final TakenReplies replies = new TakenReplies();

    @Test
    @DisplayName("a copy may be passed over before its turn only if this machine has taken the other by hand")
    void shouldKnowWhatWasTakenByHand() {
        Headers copy = headers("reply-1", true);

        assertThat(replies.isTakenByHand(copy)).isFalse();
        replies.taken("reply-1");

        assertThat(replies.isTakenByHand(copy)).isTrue();
        assertThat(replies.isTakenByHand(headers("reply-2", true))).isFalse();
        assertThat(replies.isTakenByHand(headers("reply-1", false))).isFalse();
    }

    @Test
    @DisplayName("what was taken in a transaction that was aborted is taken from its lane")
    void shouldForgetWhatWasNotKept() {
        replies.taken("reply-1");

        replies.forget();

        assertThat(replies.isTakenByHand(headers("reply-1", true))).isFalse();
    }

    private static Headers headers(String id, boolean handed) {
        Headers headers = new RecordHeaders().add(EventCodec.CE_ID, id.getBytes(StandardCharsets.UTF_8));
        return handed ? headers.add(HeaderNames.HANDED, "call".getBytes(StandardCharsets.UTF_8)) : headers;
    }
}
