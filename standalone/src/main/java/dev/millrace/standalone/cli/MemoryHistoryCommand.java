package dev.millrace.standalone.cli;

import dev.millrace.api.MemoryPage;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code millrace memory history <path>}: the versions of a document, as a table. */
@Command(
        name = "history",
        description = "Lists the versions of a document that are kept, the newest first; also of one that is gone.")
final class MemoryHistoryCommand extends DocumentCommand {

    @Override
    int run(MemoryClient memory, String path) {
        output().print(memory.versions(path), MemoryPage.Version.class, "No versions.", MemoryHistoryCommand::table);
        return ExitCodes.DONE;
    }

    private static List<String> table(List<MemoryPage.Version> versions) {
        Table table = new Table("VERSION", "WHEN", "SINCE", "SIZE", "BY", "SUMMARY");
        for (MemoryPage.Version version : versions) {
            table.add(
                    Long.toString(version.version()),
                    version.updatedAt(),
                    MemoryListCommand.since(version),
                    version.deleted() ? "-" : Long.toString(version.size()),
                    version.updatedBy(),
                    version.deleted() ? "(taken away)" : Progress.cut(version.summary()));
        }
        return table.lines();
    }
}
