package dev.millrace.tools;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.tools.content.MemoryContent;
import dev.millrace.tools.content.ReadResult;
import dev.millrace.tools.env.GetEnv;
import dev.millrace.tools.env.SetEnv;
import dev.millrace.tools.env.TopicVariables;
import dev.millrace.tools.env.Variables;
import dev.millrace.tools.files.DeleteFile;
import dev.millrace.tools.files.EditFile;
import dev.millrace.tools.files.GetFileInfo;
import dev.millrace.tools.files.GrepFiles;
import dev.millrace.tools.files.ListFiles;
import dev.millrace.tools.files.MoveFile;
import dev.millrace.tools.files.ReadFile;
import dev.millrace.tools.files.Workspace;
import dev.millrace.tools.files.WriteFile;
import dev.millrace.tools.http.GuardedHttp;
import dev.millrace.tools.http.HttpCalls;
import dev.millrace.tools.http.HttpGet;
import dev.millrace.tools.http.HttpPost;
import dev.millrace.tools.http.HttpRequest;
import dev.millrace.tools.http.WebSearch;
import dev.millrace.tools.secrets.Secrets;
import dev.millrace.tools.tasks.TaskList;
import dev.millrace.tools.tasks.TaskQueries;
import dev.millrace.tools.tasks.TaskReplay;
import dev.millrace.tools.text.Base64Decode;
import dev.millrace.tools.text.Base64Encode;
import dev.millrace.tools.text.JsonParse;
import dev.millrace.tools.text.JsonStringify;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The tools that every installation has, without what they need to run. */
final class BuiltInTools {

    private BuiltInTools() {}

    /** All of them, by name. */
    static List<ToolDefinition> definitions() throws IOException {
        Workspace workspace = new Workspace(Path.of("workspace"));
        try (GuardedHttp http = new GuardedHttp(new GuardedHttp.Limits(List.of(), 1, 1, 1));
                TaskQueries queries = new TaskQueries(URI.create("http://localhost"), Duration.ofSeconds(1))) {
            HttpCalls calls = new HttpCalls(http, Secrets.NONE);
            Variables variables = new TopicVariables(Map.of(), new Topics(""), Clock.systemUTC(), 64_000_000);
            List<Tool> tools = List.of(
                    new CurrentTime(Clock.systemUTC()),
                    new Sleep(),
                    new Notify(),
                    new ReadFile(workspace, 1),
                    new WriteFile(workspace, 1),
                    new EditFile(workspace, 1),
                    new DeleteFile(workspace),
                    new MoveFile(workspace),
                    new GetFileInfo(workspace),
                    new ListFiles(workspace),
                    new GrepFiles(workspace),
                    new HttpGet(calls),
                    new HttpPost(calls),
                    new HttpRequest(calls),
                    new WebSearch(calls, null),
                    new GetEnv(variables, List.of(), name -> null),
                    new SetEnv(variables),
                    new TaskList(queries),
                    new TaskReplay(queries),
                    new JsonParse(),
                    new JsonStringify(),
                    new Base64Encode(),
                    new Base64Decode(),
                    new ReadResult(new MemoryContent(), 1_000));
            return tools.stream()
                    .map(Tool::definition)
                    .sorted(Comparator.comparing(ToolDefinition::name))
                    .toList();
        }
    }
}
