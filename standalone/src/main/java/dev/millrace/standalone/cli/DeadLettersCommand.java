package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace dead-letters}: what was not taken, and why, as a table. */
@Command(name = "dead-letters", description = "Lists what could not be read or was not taken, and why, newest first.")
public final class DeadLettersCommand implements Callable<Integer> {

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(names = "--task", paramLabel = "ID", description = "Only those of one task.")
    private @Nullable String task;

    @Option(names = "--reason", paramLabel = "CODE", description = "Only those with this code, such as unknown_task.")
    private @Nullable String reason;

    private final Terminal terminal;

    /** For picocli. */
    public DeadLettersCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Query query = new Query("/v1/dead-letters").with("taskId", task).with("reason", reason);
        return page.print(terminal, query, "deadLetters", "No dead letters.", DeadLettersCommand::table);
    }

    private static List<String> table(JsonNode letters, Instant now) {
        Table table = new Table("SINCE", "REASON", "TYPE", "TASK", "DETAIL");
        for (JsonNode letter : letters) {
            table.add(
                    Table.age(letter.path("timestamp").asLong(), now),
                    letter.path("reason").asText("-"),
                    letter.path("type").asText("-"),
                    letter.path("taskId").asText("-"),
                    Progress.cut(letter.path("detail").asText("")));
        }
        return table.lines();
    }
}
