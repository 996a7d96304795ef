package dev.millrace.agent.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** At which moments something is due; equal questions get equal answers. Safe for any thread. */
public sealed interface Timetable permits CronTimetable, Timetable.Once {

    /** The first moment after this one; empty if there is none. */
    Optional<Instant> next(Instant after);

    /**
     * One moment and no other.
     *
     * @param at when
     */
    record Once(Instant at) implements Timetable {
        @Override
        public Optional<Instant> next(Instant after) {
            return at.isAfter(after) ? Optional.of(at) : Optional.empty();
        }
    }

    /**
     * The first moments after this one, in order.
     *
     * @param until none is later than this
     * @param most at most so many
     */
    default List<Instant> first(Instant after, Instant until, int most) {
        List<Instant> found = new ArrayList<>();
        Instant last = after;
        while (found.size() < most) {
            Instant next = next(last).orElse(null);
            if (next == null || next.isAfter(until)) {
                return found;
            }
            found.add(next);
            last = next;
        }
        return found;
    }

    /**
     * The last moments up to {@code until}, in order, however many came before them: the calendar is not gone through
     * from the beginning.
     *
     * @param after none is as early as this
     * @param most at most so many, 1 or more
     */
    default List<Instant> last(Instant after, Instant until, int most) {
        int looked = 2 * most + 1;
        Instant tooMany = after;
        List<Instant> found = first(after, until, looked);
        Instant tooFew = until;
        while (found.size() == looked) {
            Instant middle = tooMany.plus(Duration.between(tooMany, tooFew).dividedBy(2));
            if (middle.equals(tooMany) || middle.equals(tooFew)) {
                break;
            }
            List<Instant> later = first(middle, until, looked);
            if (later.size() < most) {
                tooFew = middle;
            } else {
                tooMany = middle;
                found = later;
            }
        }
        return found.subList(Math.max(0, found.size() - most), found.size());
    }
}
