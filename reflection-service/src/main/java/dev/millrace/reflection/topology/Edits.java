package dev.millrace.reflection.topology;

import dev.millrace.engine.RejectedRecordException;
import dev.millrace.reflection.core.Edit;
import dev.millrace.reflection.core.MemoryException;
import dev.millrace.reflection.core.MemoryPath;
import dev.millrace.schemas.Event;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What people do to documents: compared and set by the one writer, and answered on the memory topic. */
final class Edits {

    private Edits() {}

    /**
     * Does what MEMORY_EDIT_REQUESTED asks for, or refuses it, and answers either way. One that was done before is only
     * answered again.
     *
     * @throws RejectedRecordException if it is for no place in memory, so that nobody can be answered
     */
    static void take(Event event, NamespaceDocuments memory, Instant now) throws RejectedRecordException {
        Edit edit = edit(event);
        DocumentRow before = memory.row(edit.path());
        Optional<Long> done = before == null ? Optional.empty() : before.versionOf(event.id());
        if (done.isPresent()) {
            memory.answer(edit.path(), event.id(), Long.toString(done.get()), now);
            return;
        }
        try {
            edit.check(before == null ? null : before.tag());
            memory.edit(edit.path(), edit.content(), new NamespaceDocuments.Author(author(event), event.id(), now));
        } catch (MemoryException e) {
            memory.answer(edit.path(), event.id(), e.code(), now);
        }
    }

    private static Edit edit(Event event) throws RejectedRecordException {
        try {
            return new Edit(
                    MemoryPath.parse(String.valueOf(event.text("path"))),
                    event.text("content"),
                    new Edit.Condition(
                            event.payload().get("exists") instanceof Boolean exists ? exists : null,
                            event.payload().containsKey("ifMatch") ? tags(event, "ifMatch") : null,
                            tags(event, "ifNoneMatch")));
        } catch (MemoryException e) {
            throw new RejectedRecordException(e.code(), String.valueOf(e.getMessage()));
        }
    }

    private static Set<String> tags(Event event, String field) {
        List<?> tags = event.payload().get(field) instanceof List<?> list ? list : List.of();
        return tags.stream().map(String::valueOf).collect(Collectors.toUnmodifiableSet());
    }

    private static String author(Event event) {
        @Nullable String editedBy = event.text("editedBy");
        return editedBy == null ? "person" : "person " + editedBy;
    }
}
