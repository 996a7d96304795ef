package dev.millrace.agent.rest;

import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.Workers;
import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.api.Task;
import dev.millrace.schemas.ToolDefinition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What is to be said of a task that its events do not tell: that it waits for calls on which nobody works. Written
 * beside the task, as {@code note} and {@code unserved}; both are absent if there is nothing to say. For any thread.
 */
public final class TaskNotes {

    /** So many tasks of a page are looked at more closely. */
    static final int MAX_TASKS = 50;

    private static final String TOOLS = "tools";

    private final TaskProjection projection;
    private final ToolCatalogue tools;
    private final Workers workers;

    /** Asks these each time. */
    public TaskNotes(TaskProjection projection, ToolCatalogue tools, Workers workers) {
        this.projection = projection;
        this.tools = tools;
        this.workers = workers;
    }

    /** A task with what is to be said of it. */
    public Task.Details noted(Task.Details details) {
        return new Task.Details(noted(details.task(), absences()), details.history());
    }

    /** Tasks with what is to be said of them; of the first {@value #MAX_TASKS} that wait for tools. */
    List<Task> noted(List<Task> tasks) {
        Map<String, Workers.Absence> absences = absences();
        List<Task> noted = new ArrayList<>();
        int lookedAt = 0;
        for (Task task : tasks) {
            boolean looks = !absences.isEmpty() && waitsForTools(task) && lookedAt++ < MAX_TASKS;
            noted.add(looks ? noted(task, absences) : task);
        }
        return noted;
    }

    private Task noted(Task task, Map<String, Workers.Absence> absences) {
        Map<String, Workers.Absence> missing = new TreeMap<>();
        Task.WaitingFor waits = task.waitingFor();
        if (!absences.isEmpty() && waits != null && waits.kind().equals(TOOLS)) {
            for (String tool : projection.toolsOf(task.namespace(), task.taskId(), waits.callIds())) {
                ToolDefinition definition = tools.find(tool);
                Workers.Absence absence = definition == null ? null : absences.get(definition.toolset());
                if (definition != null && absence != null) {
                    missing.put(definition.toolset(), absence);
                }
            }
        }
        return missing.isEmpty()
                ? task
                : task.noted(
                        List.copyOf(missing.keySet()),
                        missing.entrySet().stream()
                                .map(absent -> absent.getValue().note(absent.getKey()))
                                .collect(Collectors.joining("; ")));
    }

    private static boolean waitsForTools(Task task) {
        Task.WaitingFor waits = task.waitingFor();
        return waits != null && waits.kind().equals(TOOLS);
    }

    /** By toolset. */
    private Map<String, Workers.Absence> absences() {
        Map<String, Workers.Absence> absences = new TreeMap<>();
        for (ToolDefinition tool : tools.all()) {
            if (!absences.containsKey(tool.toolset())) {
                workers.absence(tool.toolset()).ifPresent(absence -> absences.put(tool.toolset(), absence));
            }
        }
        return absences;
    }
}
