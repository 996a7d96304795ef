package dev.millrace.agent.files;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * A file of schedules: YAML with the schedules by name under {@code schedules}. {@code docs/schedules.md} says what
 * each key means.
 */
public final class ScheduleFile {

    private ScheduleFile() {}

    /**
     * A schedule of a file.
     *
     * @param fields what it says, not checked yet
     */
    public record Entry(String namespace, String name, JsonObject fields) {}

    /**
     * The schedules of a file, in its order.
     *
     * @throws InvalidAgentException that says where, what was expected and what was found
     */
    public static List<Entry> read(String text) throws InvalidAgentException {
        FolderFollower.requireShort(text);
        FrontMatter yaml = FrontMatter.ofYaml(text);
        DefinitionFields file = new DefinitionFields(yaml.fields(), yaml.lines());
        file.allowOnly("namespace", "schedules");
        String namespace = file.text("namespace");
        DefinitionFields all = file.object("schedules");
        List<Entry> schedules = new ArrayList<>();
        for (String name : List.copyOf(all.keys())) {
            schedules.add(new Entry(
                    namespace == null ? Event.DEFAULT_NAMESPACE : namespace,
                    name,
                    all.object(name).values()));
        }
        return schedules;
    }
}
