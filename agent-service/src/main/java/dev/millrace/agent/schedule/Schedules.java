package dev.millrace.agent.schedule;

import dev.millrace.agent.DefinitionTaker;
import dev.millrace.schemas.MalformedEventException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The schedules that there are, as the definitions topic has them: {@code schedule/<namespace>/<name>} each. Safe for
 * any thread; never blocks.
 */
public final class Schedules implements DefinitionTaker {

    private final Map<String, Schedule> byKey = new TreeMap<>();
    private volatile Known all = new Known(0, List.of());

    /**
     * All of them at one time.
     *
     * @param change another number as soon as something has changed
     * @param schedules by namespace and name
     */
    public record Known(long change, List<Schedule> schedules) {}

    /** All of them now. */
    public Known known() {
        return all;
    }

    /** All of them now, by namespace and name. */
    public List<Schedule> all() {
        return all.schedules();
    }

    /** The one of this name. */
    public Optional<Schedule> find(String namespace, String name) {
        synchronized (byKey) {
            return Optional.ofNullable(byKey.get(Schedule.key(namespace, name)));
        }
    }

    /** What was stored a moment ago is known here at once; an older one than is known changes nothing. */
    public void put(Schedule schedule) {
        synchronized (byKey) {
            Schedule known = byKey.get(schedule.key());
            if (known == null || !known.changedAt().isAfter(schedule.changedAt())) {
                byKey.put(schedule.key(), schedule);
                changed();
            }
        }
    }

    /** The one of this name is gone. */
    public void remove(String namespace, String name) {
        remove(Schedule.key(namespace, name));
    }

    private void remove(String key) {
        synchronized (byKey) {
            if (byKey.remove(key) != null) {
                changed();
            }
        }
    }

    private void changed() {
        all = new Known(all.change() + 1, List.copyOf(byKey.values()));
    }

    @Override
    public void take(String id, byte @Nullable [] value) throws MalformedEventException {
        if (value == null) {
            remove(id);
            return;
        }
        try {
            put(Schedule.ofJson(id, value));
        } catch (InvalidScheduleException e) {
            throw new MalformedEventException("bad_definition", String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void beginAnew() {
        synchronized (byKey) {
            byKey.clear();
            changed();
        }
    }
}
