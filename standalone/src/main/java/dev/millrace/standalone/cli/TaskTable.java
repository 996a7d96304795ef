package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Task;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

/**
 * Tasks that are shown again and again: at a terminal the same table in the same place, elsewhere each task that has
 * moved since. For one command.
 */
final class TaskTable {

    private static final Set<String> ENDED = Set.of("completed", "failed", "cancelled");
    /** To the upper left, and what stands behind the end of a line or of the table away. */
    private static final String HOME = "\u001b[H";

    private static final String REST_OF_LINE = "\u001b[K";
    private static final String REST = "\u001b[J";
    private static final String CLEAR = "\u001b[2J";

    private final Terminal terminal;
    private final OutputOptions output;
    private final Map<String, String> told = new HashMap<>();
    private boolean begun;
    private boolean idle;

    TaskTable(Terminal terminal, OutputOptions output) {
        this.terminal = terminal;
        this.output = output;
    }

    /** Shows how they are now. */
    void show(JsonNode tasks, Function<List<Task>, List<String>> table) {
        List<Task> all = GatewayClient.all(tasks, Task.class);
        idle = all.stream().allMatch(task -> ENDED.contains(task.state()));
        if (terminal.live() && !output.json()) {
            draw(all.isEmpty() ? List.of("No tasks.") : Colours.of(terminal).table(table.apply(all)));
            return;
        }
        for (JsonNode task : tasks) {
            String id = task.path("taskId").asText();
            String now =
                    task.path("state").asText() + task.at("/waitingFor/kind").asText();
            if (!now.equals(told.put(id, now))) {
                List<String> lines = table.apply(List.of(Objects.requireNonNull(all.get(indexOf(all, id)))));
                output.done(task, lines.get(1));
            }
        }
    }

    private static int indexOf(List<Task> all, String id) {
        return all.stream().map(Task::taskId).toList().indexOf(id);
    }

    /** Whether each of those that were shown last has ended. */
    boolean isIdle() {
        return idle;
    }

    /** Says that they are not live now. */
    void lost(String why) {
        if (terminal.live() && !output.json()) {
            terminal.out().print(HOME + "Not live now: " + Progress.cut(why, terminal.columns()) + REST_OF_LINE + '\n');
            terminal.out().flush();
        } else {
            terminal.err().println(why);
        }
    }

    private void draw(List<String> lines) {
        StringBuilder screen = new StringBuilder(begun ? HOME : CLEAR + HOME);
        begun = true;
        lines.forEach(line -> screen.append(line).append(REST_OF_LINE).append('\n'));
        terminal.out().print(screen.append(REST));
        terminal.out().flush();
    }
}
