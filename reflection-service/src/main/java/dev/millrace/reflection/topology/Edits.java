package dev.millrace.reflection.topology;

import dev.millrace.engine.RejectedRecordException;
import dev.millrace.reflection.core.Edit;
import dev.millrace.reflection.core.MemoryException;
import dev.millrace.reflection.core.MemoryPath;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

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
        if (!(event.payload() instanceof Payload.MemoryEditRequested asked)) {
            throw new RejectedRecordException(
                    "schema_violation", "expected MEMORY_EDIT_REQUESTED, found something else");
        }
        Edit edit = edit(event, asked);
        DocumentRow before = memory.row(edit.path());
        Optional<Long> done = before == null ? Optional.empty() : before.versionOf(event.id());
        if (done.isPresent()) {
            memory.answer(edit.path(), event.id(), Long.toString(done.get()), now);
            return;
        }
        try {
            edit.check(before == null ? null : before.tag());
            memory.edit(edit.path(), edit.content(), new NamespaceDocuments.Author(author(asked), event.id(), now));
        } catch (MemoryException e) {
            memory.answer(edit.path(), event.id(), e.code(), now);
        }
    }

    private static Edit edit(Event event, Payload.MemoryEditRequested asked) throws RejectedRecordException {
        try {
            return new Edit(
                    MemoryPath.parse(asked.path()),
                    asked.content(),
                    new Edit.Condition(
                            asked.exists(),
                            // an empty list of tags is met by no document, and none at all by each
                            event.fields().containsKey("ifMatch") ? Set.copyOf(asked.ifMatch()) : null,
                            Set.copyOf(asked.ifNoneMatch())));
        } catch (MemoryException e) {
            throw new RejectedRecordException(e.code(), String.valueOf(e.getMessage()));
        }
    }

    private static String author(Payload.MemoryEditRequested asked) {
        return asked.editedBy() == null ? "person" : "person " + asked.editedBy();
    }
}
