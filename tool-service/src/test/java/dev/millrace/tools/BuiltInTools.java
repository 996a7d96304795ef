package dev.millrace.tools;

import dev.millrace.http.client.InternalSecret;
import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.tools.content.MemoryContent;
import dev.millrace.tools.content.ReadResult;
import dev.millrace.tools.env.EnvTools;
import dev.millrace.tools.env.TopicVariables;
import dev.millrace.tools.env.Variables;
import dev.millrace.tools.files.FileTools;
import dev.millrace.tools.files.SearchTools;
import dev.millrace.tools.files.Workspace;
import dev.millrace.tools.http.HttpCalls;
import dev.millrace.tools.http.HttpTools;
import dev.millrace.tools.http.WebSearch;
import dev.millrace.tools.java.JavaTools;
import dev.millrace.tools.secrets.Secrets;
import dev.millrace.tools.tasks.EventTools;
import dev.millrace.tools.tasks.TaskQueries;
import dev.millrace.tools.tasks.TaskTools;
import dev.millrace.tools.text.TextTools;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The tools that every installation has, without what they need to run. */
final class BuiltInTools {

    private BuiltInTools() {}

    /** All of them, by name. */
    static List<ToolDefinition> definitions() throws IOException {
        Workspace workspace = new Workspace(Path.of("workspace"));
        try (GuardedHttp http = new GuardedHttp(new GuardedHttp.Limits(List.of(), 1, 1, 1));
                TaskQueries queries =
                        new TaskQueries(URI.create("http://localhost"), Duration.ofSeconds(1), InternalSecret.none())) {
            HttpCalls calls = new HttpCalls(http, Secrets.NONE);
            Variables variables =
                    new TopicVariables(ClientSettings.NONE, new Topics(""), Clock.systemUTC(), 64_000_000);
            return Stream.of(
                            new TimeTools(Clock.systemUTC()),
                            new FileTools(any -> workspace, 1),
                            new SearchTools(any -> workspace),
                            new HttpTools(calls),
                            new WebSearch(calls, null),
                            new EnvTools(variables, List.of(), name -> null),
                            new TaskTools(queries),
                            new EventTools(queries),
                            new TextTools(),
                            new ReadResult(new MemoryContent(), 1_000))
                    .flatMap(tools -> JavaTools.of(tools).stream())
                    .map(CallableTool::definition)
                    .sorted(Comparator.comparing(ToolDefinition::name))
                    .toList();
        }
    }
}
