package dev.millrace.standalone.cli;

import dev.millrace.api.Session;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace sessions messages <session>}: what was said, the oldest first. */
@Command(name = "messages", description = "Shows what was said in a conversation, the newest last.")
final class SessionMessagesCommand extends SessionCommand {

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(names = "--from", paramLabel = "TIME", description = "Nothing before it, such as 2027-01-15T08:00:00Z.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "TIME", description = "Nothing after it.")
    private @Nullable String to;

    @Override
    int run(GatewayClient client, String id) {
        return page.print(
                this,
                client,
                new PageOptions.Listing<>(
                        query("/messages").with("startTime", from).with("endTime", to),
                        "messages",
                        Session.Message.class,
                        "Nothing was said."),
                SessionMessagesCommand::lines);
    }

    private static List<String> lines(List<Session.Message> messages) {
        List<String> lines = new ArrayList<>();
        for (Session.Message message : messages) {
            lines.add(Instant.ofEpochMilli(message.timestamp()) + " " + message.role() + ":");
            message.content().lines().forEach(line -> lines.add("  " + line));
        }
        return lines;
    }
}
