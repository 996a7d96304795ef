package dev.millrace.agent.rest;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.Workers;
import dev.millrace.agent.projection.TaskDetails;
import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.agent.projection.TaskView;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is to be said of a task that its events do not tell: that it waits for calls on which nobody works. Written beside the
 * task, as {@code note} and {@code unserved}; both are absent if there is nothing to say. For any thread.
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
    Object noted(TaskDetails details) {
        return noted(details, details.task(), absences());
    }

    /** Tasks with what is to be said of them; of the first {@value #MAX_TASKS} that wait for tools. */
    List<Object> noted(List<TaskView> tasks) {
        Map<String, Workers.Absence> absences = absences();
        List<Object> noted = new ArrayList<>();
        int lookedAt = 0;
        for (TaskView task : tasks) {
            boolean looks = !absences.isEmpty() && waitsForTools(task) && lookedAt++ < MAX_TASKS;
            noted.add(looks ? noted(task, task, absences) : task);
        }
        return noted;
    }

    private Object noted(Object json, TaskView task, Map<String, Workers.Absence> absences) {
        Map<String, Workers.Absence> missing = new TreeMap<>();
        TaskView.WaitingFor waits = task.waitingFor();
        if (!absences.isEmpty() && waits != null && waits.kind().equals(TOOLS)) {
            for (String tool : projection.toolsOf(task.namespace(), task.taskId(), waits.callIds())) {
                ToolDefinition definition = tools.find(tool);
                Workers.Absence absence = definition == null ? null : absences.get(definition.toolset());
                if (definition != null && absence != null) {
                    missing.put(definition.toolset(), absence);
                }
            }
        }
        if (missing.isEmpty()) {
            return json;
        }
        ObjectNode noted = Json.MAPPER.valueToTree(json);
        List<String> notes = new ArrayList<>();
        ArrayNode unserved = noted.putArray("unserved");
        missing.forEach((toolset, absence) -> {
            unserved.add(toolset);
            notes.add(absence.note(toolset));
        });
        noted.put("note", String.join("; ", notes));
        return noted;
    }

    private static boolean waitsForTools(TaskView task) {
        TaskView.WaitingFor waits = task.waitingFor();
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
