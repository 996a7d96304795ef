package dev.millrace.tools.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.Json;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallContext;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("content by reference")
class LargeResultsTest {

    private static final int LIMIT = 2_000;
    /** What JSON writes long, and characters of all lengths. */
    private static final String HARD = "\"\\\u0001\n\té€😀x";

    private final MemoryContent store = new MemoryContent();
    private final LargeResults results = new LargeResults(store, LIMIT, 100_000);
    private final CallableTool tool = Calls.tool(new ReadResult(store, LIMIT), "read_result");

    @Test
    void shouldPassOnWhatIsExactlyAsLargeAsItMayBe() throws InterruptedException {
        // given
        String fits = "x".repeat(LIMIT - 2);
        // then
        assertThat(results.passOn(fits, Calls.CONTEXT)).isEqualTo(fits);
    }

    @Test
    void shouldCutWhatIsOneByteLarger() throws InterruptedException {
        // when
        Map<String, Object> cut = cut("x".repeat(LIMIT - 1));
        // then
        assertThat(cut).containsEntry("truncated", true).containsEntry("totalBytes", LIMIT - 1);
        assertThat(String.valueOf(cut.get("start"))).isNotEmpty();
    }

    @Test
    void shouldSayHowToGoOn() throws InterruptedException, ToolException {
        // when
        Map<String, Object> cut = cut("0123456789".repeat(1_000));
        // then
        int start = String.valueOf(cut.get("start")).length();
        assertThat(String.valueOf(cut.get("note")))
                .contains("read_result", "reference \"" + cut.get("reference") + "\"", "offset " + start);
        assertThat(Calls.result(tool, Map.of("reference", cut.get("reference"), "offset", start)))
                .containsEntry("offset", (long) start);
    }

    @ParameterizedTest
    @ValueSource(ints = {1_000, 1_001, 1_500, 2_000, 10_000})
    void shouldNeverPassOnMoreThanItMay(int limit) throws InterruptedException, ToolException {
        // given
        LargeResults tight = new LargeResults(store, limit, 1_000_000);
        CallableTool pages = Calls.tool(new ReadResult(store, limit), "read_result");
        for (Object large :
                new Object[] {HARD.repeat(5_000), Map.of("text", HARD.repeat(5_000)), "\u0001".repeat(20_000)}) {
            // when
            Map<?, ?> cut = (Map<?, ?>) java.util.Objects.requireNonNull(tight.passOn(large, Calls.CONTEXT));
            Map<String, Object> page =
                    Calls.result(pages, Map.of("reference", String.valueOf(cut.get("reference")), "length", 1_000_000));
            // then
            assertThat(Json.write(cut).length).isLessThanOrEqualTo(limit);
            assertThat(Json.write(page).length).isLessThanOrEqualTo(limit);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 7, 64, 999, 1_000_000})
    void shouldGiveEverythingBackByteForByte(int length) throws InterruptedException, ToolException, IOException {
        // given
        String large = HARD.repeat(300);
        Map<String, Object> cut = cut(large);
        // when
        byte[] read = readAll(String.valueOf(cut.get("reference")), length);
        // then
        assertThat(read).isEqualTo(large.getBytes(StandardCharsets.UTF_8));
        assertThat(large).startsWith(String.valueOf(cut.get("start")));
    }

    @Test
    void shouldKeepWhatIsNoTextAsJson() throws InterruptedException, ToolException, IOException {
        // given
        Map<String, Object> large = Map.of("body", HARD.repeat(500));
        // when
        String reference = String.valueOf(cut(large).get("reference"));
        // then
        assertThat(readAll(reference, 500)).isEqualTo(Json.write(large));
        assertThat(Calls.result(tool, Map.of("reference", reference))).containsEntry("contentType", "application/json");
    }

    @Test
    void shouldBeginWithAWholeCharacterWhateverTheOffset() throws InterruptedException, ToolException {
        // given
        String reference = String.valueOf(cut("😀".repeat(2_000)).get("reference"));
        // when
        Map<String, Object> page = Calls.result(tool, Map.of("reference", reference, "offset", 5, "length", 8));
        // then
        assertThat(page).containsEntry("offset", 8L).containsEntry("text", "😀").containsEntry("nextOffset", 12L);
    }

    @Test
    void shouldGiveAnEmptyLastPageBehindTheEnd() throws InterruptedException, ToolException {
        // given
        String reference = String.valueOf(cut("x".repeat(5_000)).get("reference"));
        // when
        Map<String, Object> page = Calls.result(tool, Map.of("reference", reference, "offset", 5_000));
        // then
        assertThat(page).containsEntry("text", "").doesNotContainKey("nextOffset");
    }

    @Test
    void shouldKeepNoMoreThanItMayAndSaySo() throws InterruptedException, ToolException, IOException {
        // when
        Map<String, Object> whole = cut("x".repeat(100_000));
        Map<String, Object> more = cut("x".repeat(99_999) + "é");
        // then
        assertThat(String.valueOf(whole.get("note"))).doesNotContain("are kept");
        assertThat(String.valueOf(more.get("note"))).contains("Only its first 99999 bytes are kept");
        assertThat(more).containsEntry("totalBytes", 100_001);
        assertThat(readAll(String.valueOf(more.get("reference")), 50_000)).hasSize(99_999);
    }

    @Test
    void shouldPassTheBeginningOnIfTheWholeCannotBeKept() throws InterruptedException {
        // given
        LargeResults brokerAway = new LargeResults(new Unavailable(), LIMIT, 100_000);
        // when
        Object cut = brokerAway.passOn("x".repeat(10_000), Calls.CONTEXT);
        // then
        assertThat(cut)
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
                .containsEntry("truncated", true)
                .containsKey("start")
                .doesNotContainKey("reference");
    }

    @Test
    void shouldGiveItToTheTaskAndItsSessionAndToNobodyElse() {
        // given
        Owner owner = new Owner("default", "t1", "s1");
        // then
        assertThat(new Owner("default", "t1", "s1").mayRead(owner)).isTrue();
        assertThat(new Owner("default", "t2", "s1").mayRead(owner)).isTrue();
        assertThat(new Owner("default", "t1", null).mayRead(owner)).isTrue();
        assertThat(new Owner("other", "t1", "s1").mayRead(owner)).isFalse();
        assertThat(new Owner("default", "t2", "s2").mayRead(owner)).isFalse();
        assertThat(new Owner("default", "t2", null).mayRead(new Owner("default", "t1", null)))
                .isFalse();
        assertThat(new Owner("default", "", null).mayRead(new Owner("default", "", null)))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {999, 900_001})
    void shouldRefuseALimitThatMakesNoSense(int limit) {
        assertThatThrownBy(() -> new LargeResults(store, limit, 2_000_000))
                .hasMessageContaining("millrace.tools.max-result-size: expected 1000 to 900000 bytes, found " + limit);
    }

    @Test
    void shouldRefuseToKeepLessThanItPassesOn() {
        assertThatThrownBy(() -> new LargeResults(store, 2_000, 1_999))
                .hasMessageContaining("millrace.tools.content.max-size");
    }

    @SuppressWarnings("unchecked") // a cut result is an object
    private Map<String, Object> cut(Object large) throws InterruptedException {
        Object cut = results.passOn(large, Calls.CONTEXT);
        assertThat(cut).isInstanceOf(Map.class);
        return (Map<String, Object>) java.util.Objects.requireNonNull(cut);
    }

    private byte[] readAll(String reference, int length) throws ToolException, InterruptedException, IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        @Nullable Object offset = 0L;
        while (offset != null) {
            Map<String, @Nullable Object> params = new HashMap<>();
            params.put("reference", reference);
            params.put("offset", offset);
            params.put("length", length);
            Map<String, Object> page = Calls.result(tool, params);
            all.write(String.valueOf(page.get("text")).getBytes(StandardCharsets.UTF_8));
            offset = page.get("nextOffset");
        }
        return all.toByteArray();
    }

    private static final class Unavailable implements ContentStore {
        @Override
        public String put(Owner owner, String callId, byte[] content, String contentType) throws UnavailableException {
            throw new UnavailableException("no broker", new IOException());
        }

        @Override
        public Slice read(Owner reader, String reference, long offset, int length) throws ToolException {
            throw new ToolException("content_unavailable", "no broker");
        }
    }

    @Test
    void shouldNameTheTaskInNoReference() throws InterruptedException {
        // given
        ToolContext context = new CallContext("task-secret", "session-secret", "default", "task-secret/1/0");
        // when
        Object cut = results.passOn("x".repeat(10_000), context);
        // then
        assertThat(String.valueOf(cut)).doesNotContain("secret");
    }
}
