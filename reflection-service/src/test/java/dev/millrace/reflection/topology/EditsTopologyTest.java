package dev.millrace.reflection.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.reflection.core.MemoryException;
import dev.millrace.reflection.core.MemoryPath;
import dev.millrace.reflection.core.MemoryTools;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.MemoryDocument.Refusal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What people do to documents: the one writer compares and sets, and answers on the memory topic. */
class EditsTopologyTest {

    private static final String PATH = "facts/user.md";
    private static final String KEY = "default/" + PATH;

    @TempDir
    Path stateDir;

    private TestMemory memory;

    @BeforeEach
    @SuppressWarnings("NullAway.Init")
    void begin() {
        memory = new TestMemory(stateDir, 3);
    }

    @AfterEach
    void stop() {
        memory.close();
    }

    @Test
    @DisplayName("an edit makes a version with who it was, and is answered in its record")
    void shouldEdit() throws MalformedEventException {
        memory.send(edit("e1", "# Ada", Map.of("exists", false, "editedBy", "ada")));

        assertThat(memory.documents()).singleElement().satisfies(record -> {
            assertThat(record.key()).isEqualTo(KEY);
            assertThat(answer(record)).isEqualTo("e1: 1");
            MemoryDocument document = MemoryDocument.fromJson(record.value());
            assertThat(document.updatedBy()).isEqualTo("person ada");
            assertThat(document.changeId()).isEqualTo("e1");
            assertThat(document.version()).isEqualTo(1);
        });
        assertThat(memory.replies()).isEmpty();
    }

    @Test
    @DisplayName(
            "of two edits that know the same version, the first one wins, and the other is told so and changes nothing")
    void shouldLetOneOfTwoWin() throws MalformedEventException {
        memory.send(edit("e1", "one", Map.of()));
        String tag = tag(memory.documents());

        memory.send(edit("e2", "two", Map.of("ifMatch", List.of(tag))));
        memory.send(edit("e3", "three", Map.of("ifMatch", List.of(tag))));

        List<TestRecord<String, byte[]>> records = memory.documents();
        assertThat(records)
                .extracting(record -> record.key() + ' ' + answer(record))
                .containsExactly(KEY + "@1 null", KEY + " e2: 2", KEY + " e3: precondition_failed");
        assertThat(MemoryDocument.fromJson(records.getLast().value()).content()).isEqualTo("two");
        assertThat(header(records.getLast(), HeaderNames.CHANGE)).isEqualTo("e2");
        assertThat(header(records.getLast(), HeaderNames.VERSION)).isEqualTo("2");
    }

    @Test
    @DisplayName("an edit that a task was quicker than is refused")
    void shouldCompareWithWhatToolsHaveDone() throws MalformedEventException {
        memory.send(edit("e1", "one", Map.of()));
        String tag = tag(memory.documents());
        memory.send(TestMemory.call("c1", "memory_append", Map.of("path", PATH, "entry", "more"))
                .build());
        memory.documents();

        memory.send(edit("e2", "two", Map.of("ifMatch", List.of(tag))));

        assertThat(memory.documents()).extracting(EditsTopologyTest::answer).containsExactly("e2: precondition_failed");
    }

    @Test
    @DisplayName("an edit that comes again is answered again and not done again, whatever was done since")
    void shouldDoAnEditOnce() {
        memory.send(edit("e1", "one", Map.of("exists", false)));
        memory.send(edit("e2", "two", Map.of()));
        memory.send(TestMemory.call("c1", "memory_append", Map.of("path", PATH, "entry", "more"))
                .build());
        memory.documents();

        memory.send(edit("e1", "one", Map.of("exists", false)));
        memory.send(edit("e2", "two", Map.of()));

        assertThat(memory.documents())
                .extracting(record -> header(record, HeaderNames.VERSION) + ' ' + answer(record))
                .containsExactly("3 e1: 1", "3 e2: 2");
    }

    @Test
    @DisplayName("what is taken away is gone, its versions are not, and the next one has the next number")
    void shouldTakeAwayAndBringBack() throws MalformedEventException {
        memory.send(edit("e1", "one", Map.of()));
        memory.documents();

        memory.send(edit("e2", null, Map.of("editedBy", "ada")));

        List<TestRecord<String, byte[]>> gone = memory.documents();
        assertThat(gone).extracting(TestRecord::key).containsExactly(KEY + "@1", KEY + "@2", KEY);
        assertThat(gone.get(2).value()).isNull();
        assertThat(answer(gone.get(2))).isEqualTo("e2: 2");
        MemoryDocument deletion = MemoryDocument.fromJson(gone.get(1).value());
        assertThat(deletion.deleted()).isTrue();
        assertThat(deletion.updatedBy()).isEqualTo("person ada");

        memory.send(edit("e3", null, Map.of()));
        memory.send(edit("e4", "again", Map.of("exists", false)));

        List<TestRecord<String, byte[]>> back = memory.documents();
        assertThat(back)
                .extracting(record -> record.key() + ' ' + answer(record))
                .containsExactly(KEY + " e3: document_not_found", KEY + " e4: 3");
        assertThat(MemoryDocument.fromJson(back.get(1).value()).version()).isEqualTo(3);
    }

    @Test
    @DisplayName("a document that would be too large is refused with a word that the gateway knows")
    void shouldRefuseWhatIsTooLarge() {
        memory.send(edit("e1", "x".repeat(MemoryDocument.MAX_FACTS_BYTES + 1), Map.of()));

        assertThat(memory.documents()).singleElement().satisfies(record -> {
            assertThat(record.value()).isNull();
            assertThat(answer(record)).isEqualTo("e1: document_too_large");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"../x.md", "facts/a/b.md"})
    void shouldPutAsideWhatIsForNoPlaceInMemory(String path) {
        memory.send(Event.root("e1", KnownEventType.MEMORY_EDIT_REQUESTED, TestMemory.START)
                .payload(Map.of("path", path, "content", "x"))
                .build());

        assertThat(memory.deadLetters()).hasSize(1);
        assertThat(memory.documents()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseWithTheWordsOfTheContract(Refusal refusal) {
        assertThat(Refusal.of(refusal.code())).hasValue(refusal);
        assertThat(List.of("document_not_found", "precondition_failed", "document_too_large", "memory_full"))
                .contains(refusal.code());
    }

    @ParameterizedTest
    @CsvSource({
        "facts/user.md, true",
        "facts/Größe der Räder.md, true",
        "episodes/2026-11.md, true",
        "facts/a..b.md, false",
        "facts/.hidden.md, false",
        "facts/a/b.md, false",
        "facts/user.md@3, false",
        "episodes/2026-13.md, false",
        "../x, false",
        "facts/user.txt, false"
    })
    @DisplayName("the contract and the rules mean the same by a path and by its limit")
    void shouldAgreeWithTheContract(String path, boolean legal) throws MemoryException {
        boolean parsed;
        try {
            parsed = MemoryPath.parse(path).text().equals(path);
        } catch (MemoryException e) {
            parsed = false;
        }

        assertThat(parsed).isEqualTo(legal);
        assertThat(MemoryDocument.isPath(path)).isEqualTo(legal);
        if (legal) {
            assertThat((long) MemoryDocument.maxBytes(path))
                    .isEqualTo(
                            MemoryPath.parse(path).isFact()
                                    ? MemoryTools.MAX_FACTS_BYTES
                                    : MemoryTools.MAX_EPISODES_BYTES);
        }
    }

    private static Event edit(String id, @Nullable String content, Map<String, Object> more) {
        Map<String, @Nullable Object> payload = new HashMap<>(more);
        payload.put("path", PATH);
        if (content != null) {
            payload.put("content", content);
        }
        Event event = Event.root(id, KnownEventType.MEMORY_EDIT_REQUESTED, TestMemory.START)
                .source("user")
                .payload(payload)
                .build();
        assertThat(EventSchemas.problems(event)).isEmpty();
        return event;
    }

    private static String tag(List<TestRecord<String, byte[]>> records) throws MalformedEventException {
        return MemoryDocument.fromJson(records.getLast().value()).tag();
    }

    private static @Nullable String answer(TestRecord<String, byte[]> record) {
        String id = header(record, HeaderNames.ANSWER);
        return id == null ? null : id + ": " + header(record, HeaderNames.OUTCOME);
    }

    private static @Nullable String header(TestRecord<String, byte[]> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }
}
