package dev.millrace.bench.crash;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tools.java.ToolTerms;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/**
 * A tool whose effects can be counted. It runs in tool-service, which is given it in a jar of its own, and does what
 * docs/tools.md asks of a tool with side effects: whatever the number of its runs, each call id has one effect. An
 * effect is a file; its name says of which task and call.
 */
public final class EffectTool {

    /** The system property of tool-service that names the folder of the effects. */
    static final String FOLDER = "crash.effects";

    static final String NAME = "record_effect";
    /** In the folder; one line per run, whatever became of it. */
    static final String RUNS = "runs.log";

    /** Long enough for a kill to come in between. */
    private static final long WORK_MS = 30;

    private final Path folder = Path.of(Objects.requireNonNull(System.getProperty(FOLDER), FOLDER));

    /** Has its effect, or finds that it has had it. */
    @Tool(name = NAME, value = "Has an effect, once.")
    @ToolTerms(sideEffects = SideEffects.IDEMPOTENT)
    public String recordEffect(@P("What for.") String key, ToolContext context)
            throws IOException, InterruptedException {
        Files.writeString(
                folder.resolve(RUNS), context.callId() + '\n', StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        Thread.sleep(WORK_MS);
        try {
            Files.createFile(folder.resolve(name(context.taskId(), context.callId())));
        } catch (FileAlreadyExistsException e) {
            return key + " was there";
        }
        return key;
    }

    private static String name(String taskId, String callId) {
        return URLEncoder.encode(taskId, StandardCharsets.UTF_8)
                + '~'
                + URLEncoder.encode(callId, StandardCharsets.UTF_8);
    }
}
