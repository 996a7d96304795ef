package dev.millrace.agent.topology;

import dev.millrace.agent.topology.AdmissionRow.Holding;
import dev.millrace.agent.topology.AdmissionRow.Line;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Who waits and who works in one conversation: at most one of its tasks works at a time. */
final class ConversationQueue {

    private final TreeSet<Line> waiting = new TreeSet<>();
    private final Map<String, Line> waitingByTask = new HashMap<>();
    private final Map<String, Holding> holders = new HashMap<>();

    void add(Line line) {
        waiting.add(line);
        waitingByTask.put(line.taskKey(), line);
    }

    void remove(Line line) {
        waiting.remove(line);
        waitingByTask.remove(line.taskKey());
    }

    void hold(Holding holder) {
        holders.put(holder.taskKey(), holder);
    }

    void release(String taskKey) {
        holders.remove(taskKey);
    }

    boolean isEmpty() {
        return waiting.isEmpty() && holders.isEmpty();
    }

    /** Whose turn it is; {@code null} = nobody waits, or somebody else has to be waited for. */
    @Nullable
    Line next() {
        if (waiting.isEmpty()) {
            return null;
        }
        if (holders.isEmpty()) {
            return waiting.first();
        }
        // who holds the conversation and waits itself has been answered and goes before everybody else
        return holders.size() > 1
                ? null
                : waitingByTask.get(holders.keySet().iterator().next());
    }

    /** The task that the next message is the answer for. */
    Optional<Holding> answerable() {
        return holders.values().stream().filter(Holding::answerable).findFirst();
    }
}
