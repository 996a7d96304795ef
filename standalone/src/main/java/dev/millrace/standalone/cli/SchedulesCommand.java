package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.ScheduleView;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace schedules}: tasks that are due by the clock. Does nothing itself; its subcommands do. */
@Command(
        name = "schedules",
        footerHeading = "%nExamples:%n",
        footer = {
            "  schedules set report --cron '0 9 * * 1-5' --zone Europe/Rome --text 'Write the report' --agent general",
            "  schedules next report --count 3",
            "  schedules fire report"
        },
        synopsisSubcommandLabel = "COMMAND",
        description = "Shows, defines, pauses, fires and removes schedules: tasks that are due by the clock.",
        subcommands = {
            SchedulesCommand.ListAll.class,
            SchedulesCommand.Show.class,
            SchedulesCommand.Next.class,
            SchedulesCommand.Define.class,
            SchedulesCommand.Pause.class,
            SchedulesCommand.Resume.class,
            SchedulesCommand.Fire.class,
            SchedulesCommand.Delete.class
        })
public final class SchedulesCommand implements Runnable {

    private static final String ROUTE = "/v1/schedules";

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** One that is about schedules of a namespace. */
    abstract static class OfNamespace extends ClientCommand {

        @Option(
                names = "--namespace",
                paramLabel = "NAME",
                defaultValue = MemoryClient.DEFAULT_NAMESPACE,
                description = "The tenant (default: ${DEFAULT-VALUE}).")
        private String namespace = MemoryClient.DEFAULT_NAMESPACE;

        final Route query(String path) {
            return new Route(path).with("namespace", namespace);
        }
    }

    /** One that is about one schedule. */
    abstract static class OfOne extends OfNamespace {

        @Parameters(paramLabel = "NAME", description = "The schedule.")
        private String name = "";

        final String name() {
            return name;
        }

        final Route one(String rest) {
            return query(ROUTE + '/' + Route.encoded(name) + rest);
        }
    }

    /** {@code millrace schedules list}. */
    @Command(name = "list", description = "Lists the schedules, each with when it is due next.")
    static final class ListAll extends OfNamespace {

        @Override
        int run(GatewayClient client) {
            JsonNode answer = client.get(query(ROUTE).toString());
            output().print(answer.path("schedules"), ScheduleView.class, "No schedules.", ListAll::table);
            return ExitCodes.DONE;
        }

        private static List<String> table(List<ScheduleView> schedules) {
            Table table = new Table("SCHEDULE", "WHEN", "ZONE", "NEXT", "AGENT", "SESSION", "SAYS");
            for (ScheduleView schedule : schedules) {
                table.add(
                        schedule.name(),
                        or(schedule.cron(), or(schedule.at(), "")),
                        schedule.zone(),
                        schedule.paused()
                                ? "paused"
                                : schedule.next().isEmpty()
                                        ? "never"
                                        : local(schedule.next().getFirst(), schedule.zone()),
                        or(schedule.taskType(), "general"),
                        or(schedule.sessionId(), ""),
                        Progress.cut(or(schedule.text(), or(schedule.template(), ""))));
            }
            return table.lines();
        }
    }

    /** {@code millrace schedules show}. */
    @Command(name = "show", description = "Shows everything about a schedule.")
    static final class Show extends OfOne {

        @Override
        int run(GatewayClient client) {
            JsonNode schedule = client.get(one("").toString());
            if (output().json()) {
                output().print(schedule);
            } else {
                Table table = new Table("SCHEDULE", schedule.path("name").asText());
                schedule.properties().forEach(field -> {
                    if (!field.getKey().equals("name")) {
                        JsonNode value = field.getValue();
                        table.add(field.getKey(), value.isTextual() ? value.asText() : Json.writeText(value));
                    }
                });
                table.lines().forEach(this::out);
            }
            return ExitCodes.DONE;
        }
    }

    /** {@code millrace schedules next}. */
    @Command(name = "next", description = "Shows when a schedule is due next, in its zone.")
    static final class Next extends OfOne {

        @Option(
                names = "--count",
                paramLabel = "N",
                defaultValue = "5",
                description = "How many, 1 to 100 (default: ${DEFAULT-VALUE}).")
        private int count = 5;

        @Override
        int run(GatewayClient client) {
            ScheduleView schedule = client.get(one("").with("next", count).toString(), ScheduleView.class);
            if (schedule.next().isEmpty()) {
                err(schedule.paused() ? "It is paused." : "It is never due again.");
            }
            schedule.next()
                    .forEach(moment ->
                            done(Map.of("next", moment, "zone", schedule.zone()), local(moment, schedule.zone())));
            return ExitCodes.DONE;
        }
    }

    /** {@code millrace schedules set}. */
    @Command(name = "set", description = "Defines a schedule, or replaces the one of this name. It counts from now.")
    static final class Define extends OfOne {

        @Option(
                names = "--cron",
                paramLabel = "EXPRESSION",
                description = "When, such as \"0 9 * * 1-5\": minute hour day-of-month month day-of-week, with seconds"
                        + " before them or without; or @hourly, @daily and the like.")
        private @Nullable String cron;

        @Option(names = "--at", paramLabel = "TIME", description = "When, once, such as 2027-01-31T09:00:00.")
        private @Nullable String at;

        @Option(names = "--zone", paramLabel = "ZONE", description = "Time zone, such as Europe/Berlin (default: UTC).")
        private @Nullable String zone;

        @Option(names = "--text", paramLabel = "TEXT", description = "What the agent is told.")
        private @Nullable String text;

        @Option(names = "--agent", paramLabel = "NAME", description = "Who does it (default: general).")
        private @Nullable String agent;

        @Option(
                names = "--session",
                paramLabel = "ID",
                description = "The conversation of its tasks (default: each has one of its own).")
        private @Nullable String session;

        @Option(
                names = "--missed",
                paramLabel = "WHAT",
                description = "What of moments at which nobody was there: skip, one or all (default: one).")
        private @Nullable String missed;

        @Option(
                names = "--overlap",
                paramLabel = "WHAT",
                description = "What if the task before goes on: allow or skip (default: allow).")
        private @Nullable String overlap;

        @Option(
                names = "--ttl",
                paramLabel = "TIME",
                converter = DurationConverter.class,
                description = "What nobody has begun after so long is no longer wanted, such as 90s or 10m (default: it"
                        + " always is).")
        private @Nullable Duration ttl;

        @Option(
                names = "--from",
                paramLabel = "FILE",
                description = "A definition as JSON, as the HTTP API takes it; options go before it.")
        private @Nullable Path file;

        @Override
        int run(GatewayClient client) {
            JsonObject written = file == null ? JsonObject.empty() : read(file);
            JsonObject definition = JsonObject.builder()
                    .putAll(written)
                    .putIfPresent("cron", cron)
                    .putIfPresent("at", at)
                    .putIfPresent("zone", zone)
                    .putIfPresent("text", text)
                    .putIfPresent("taskType", agent)
                    .putIfPresent("sessionId", session)
                    .putIfPresent("missed", missed)
                    .putIfPresent("overlap", overlap)
                    .putIfPresent("ttl", ttl == null ? null : ttl.toMillis())
                    .build();
            ScheduleView schedule =
                    Json.MAPPER.convertValue(client.putJson(one("").toString(), definition), ScheduleView.class);
            done(
                    schedule,
                    schedule.next().isEmpty()
                            ? "Schedule " + name() + " is defined, and not due."
                            : "Schedule " + name() + " is due next at "
                                    + local(schedule.next().getFirst(), schedule.zone()) + '.');
            return ExitCodes.DONE;
        }

        private static JsonObject read(Path file) {
            try {
                return JsonObject.read(Files.readString(file));
            } catch (IOException e) {
                throw CommandException.unreadable(file, e);
            } catch (MalformedEventException e) {
                throw new CommandException(ExitCodes.FAILED, file + ": " + e.getMessage());
            }
        }
    }

    /** {@code millrace schedules pause}. */
    @Command(name = "pause", description = "Pauses a schedule until it is resumed.")
    static final class Pause extends OfOne {
        @Override
        int run(GatewayClient client) {
            JsonNode answer = client.postNothing(one("/pause").toString(), Map.of());
            done(answer, "Schedule " + name() + " is paused.");
            return ExitCodes.DONE;
        }
    }

    /** {@code millrace schedules resume}. */
    @Command(name = "resume", description = "Resumes a schedule; what it missed is not made up for.")
    static final class Resume extends OfOne {
        @Override
        int run(GatewayClient client) {
            JsonNode answer = client.postNothing(one("/resume").toString(), Map.of());
            done(answer, "Schedule " + name() + " goes on.");
            return ExitCodes.DONE;
        }
    }

    /** {@code millrace schedules fire}. */
    @Command(name = "fire", description = "Starts the task of a schedule now, and prints its id.")
    static final class Fire extends OfOne {
        @Override
        int run(GatewayClient client) {
            JsonNode accepted = client.postNothing(one("/fire").toString(), Map.of());
            done(accepted, accepted.path("taskId").asText());
            return ExitCodes.DONE;
        }
    }

    /** {@code millrace schedules delete}. */
    @Command(name = "delete", description = "Removes a schedule. Tasks that it has started go on.")
    static final class Delete extends OfOne {
        @Override
        int run(GatewayClient client) {
            JsonNode unused = client.delete(one("").toString(), Map.of());
            done(Map.of("name", name(), "deleted", true), "Schedule " + name() + " is gone.");
            return ExitCodes.DONE;
        }
    }

    private static String or(@Nullable String value, String otherwise) {
        return value == null ? otherwise : value;
    }

    /** A moment in a time zone. */
    private static String local(String moment, String zone) {
        return Instant.parse(moment).atZone(ZoneId.of(zone)).toOffsetDateTime().toString();
    }
}
