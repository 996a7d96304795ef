package dev.millrace.standalone.cli;

import dev.millrace.api.ForgetReport;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code millrace forget <what> <name>}: removes tasks and what is remembered, and says what stays where until when.
 */
@Command(
        name = "forget",
        footerHeading = "%nExamples:%n",
        footer = {
            "  forget task TASK",
            "  forget session notes --reason 'its owner asked' --yes",
            "  forget namespace acme"
        },
        description = "Forgets a task, a session, the memory of a namespace, or everything of a namespace: cancels what"
                + " runs, removes it for good, and shows which topics still hold it until when.")
public final class ForgetCommand extends ClientCommand {

    private static final String PATIENCE = "20s";
    private static final String MEMORY = "memory";
    private static final Set<String> OF_TASKS = Set.of("task", "session");
    private static final Set<String> OF_NAMESPACES = Set.of(MEMORY, "namespace");

    @Parameters(index = "0", paramLabel = "WHAT", description = "task, session, memory or namespace.")
    private String what = "";

    @Parameters(
            index = "1",
            paramLabel = "NAME",
            description = "Id of the task or session; else the name of the namespace.")
    private String name = "";

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            description = "The tenant of the task or session (default: default).")
    private @Nullable String namespace;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it is kept in the journal.")
    private @Nullable String reason;

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    @Override
    int run(GatewayClient client) {
        if (!OF_TASKS.contains(what) && !OF_NAMESPACES.contains(what)) {
            throw new CommandException(
                    ExitCodes.USAGE, "forget: expected task, session, memory or namespace, found " + what);
        }
        if (namespace != null && !OF_TASKS.contains(what)) {
            throw new CommandException(
                    ExitCodes.USAGE, "--namespace: expected with task or session, found with " + what);
        }
        if (!yes && !isConfirmed()) {
            throw new CommandException(ExitCodes.FAILED, "Nothing was forgotten.");
        }
        ForgetReport.Request request = new ForgetReport.Request(
                what,
                OF_TASKS.contains(what) ? namespace : name,
                what.equals("task") ? name : null,
                what.equals("session") ? name : null,
                reason);
        show(client.post("/v1/forget?wait=" + PATIENCE, request, ForgetReport.class));
        return ExitCodes.DONE;
    }

    /** Without a person nobody can say yes, so that it has to be said on the command line. */
    private boolean isConfirmed() {
        if (terminal().person() == null) {
            throw new CommandException(
                    ExitCodes.USAGE, "Forgetting cannot be undone, and there is nobody to ask: say --yes.");
        }
        Optional<String> said = terminal().ask("Forget the " + words() + "? This cannot be undone. Type its name: ");
        return said.filter(name::equals).isPresent();
    }

    private String words() {
        if (OF_TASKS.contains(what)) {
            return what + ' ' + name;
        }
        return what.equals(MEMORY)
                ? "memory of the namespace " + name
                : "namespace " + name + ", all tasks and all memory of it";
    }

    private void show(ForgetReport report) {
        if (output().json()) {
            done(report, "");
            return;
        }
        ForgetReport.Removed removed = report.removed();
        String sums = String.format(
                Locale.ROOT,
                "%d tasks (%d of them cancelled), %d documents, %d reflections",
                removed.tasks(),
                removed.cancelled(),
                removed.documents(),
                removed.reflections());
        if (report.completed()) {
            err("Forgotten: " + sums + ".");
        } else {
            err("The request " + report.forgetId() + " goes on; not done within " + PATIENCE + ". So far: " + sums
                    + ".");
        }
        err("What these topics hold of it stays until then, at the latest:");
        Table table = new Table("TOPIC", "UNTIL", "WHY");
        for (ForgetReport.Remains topic : report.remains()) {
            table.add(topic.topic(), topic.until() == null ? "?" : topic.until(), topic.why());
        }
        table.lines().forEach(this::out);
        err("Elsewhere:");
        report.elsewhere().forEach(place -> err("  " + place.place() + ": " + place.why()));
    }
}
