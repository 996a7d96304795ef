package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.Mailbox.Letter;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Letters of one partition. */
final class Letters {
    private Letters() {}

    static Letter at(long offset, int weight) {
        Event event = Event.root("e" + offset, KnownEventType.TASK_NOTIFY, Instant.EPOCH)
                .build();
        return new Letter(new JournalEntry(new JournalCursor(0, offset), event), weight);
    }

    /** What is in the mailbox now, as offsets. */
    static List<Long> offsets(Mailbox mailbox) throws Exception {
        List<Long> offsets = new ArrayList<>();
        for (JournalEntry entry = mailbox.take(Duration.ZERO); entry != null; entry = mailbox.take(Duration.ZERO)) {
            offsets.add(entry.cursor().offset());
        }
        return offsets;
    }
}
