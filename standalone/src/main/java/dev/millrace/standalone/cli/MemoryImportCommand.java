package dev.millrace.standalone.cli;

import dev.millrace.api.MemoryPage;
import dev.millrace.client.GatewayHttp;
import dev.millrace.standalone.cli.MemoryClient.ChangedException;
import dev.millrace.standalone.cli.MemoryFolder.Entry;
import dev.millrace.standalone.cli.MemoryFolder.Origin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace memory import <dir>}: files into memory, as far as they differ and nothing newer is lost. */
@Command(
        name = "import",
        description =
                "Writes the files of a folder into memory: those that were changed or are new. What was changed in"
                        + " memory since it was exported is not overwritten, and nothing is taken away.")
final class MemoryImportCommand extends ClientCommand {

    @Parameters(paramLabel = "DIR", arity = "1", description = "The folder: <namespace>/<path>, as export makes it.")
    private Path folder = Path.of("");

    @Option(names = "--dry-run", description = "Only say what would be done.")
    private boolean dryRun;

    @Option(names = "--force", description = "Also over what is newer in memory; that stays as an older version.")
    private boolean force;

    @Mixin
    private AuthorOption author = new AuthorOption();

    /** What a file is to memory. */
    private enum Finding {
        NEW,
        CHANGED,
        SAME,
        NEWER_THERE,
        GONE_THERE,
        CONFLICT,
        REFUSED;

        String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /**
     * What is found out about a file.
     *
     * @param etag of what it would replace, or {@link MemoryClient#NOTHING}
     */
    private record Judgement(Finding finding, String etag) {}

    @Override
    int run(GatewayClient client) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new CommandException(ExitCodes.USAGE, "There is no folder " + folder + ".");
        }
        MemoryFolder files = MemoryFolder.of(folder);
        Map<String, Map<String, String>> there = new HashMap<>();
        Map<Finding, Integer> counts = new EnumMap<>(Finding.class);
        try {
            for (Entry entry : files.entries()) {
                Finding finding =
                        switch (entry) {
                            case Entry.Refused refused -> {
                                tell(Finding.REFUSED, refused.name() + ": " + refused.why());
                                yield Finding.REFUSED;
                            }
                            case Entry.Document document -> {
                                MemoryClient memory = new MemoryClient(client, document.namespace());
                                Map<String, String> etags =
                                        there.computeIfAbsent(document.namespace(), namespace -> etags(memory));
                                yield take(memory, files, document, etags.get(document.path()));
                            }
                        };
                counts.merge(finding, 1, Integer::sum);
            }
        } finally {
            if (!dryRun) {
                files.save();
            }
        }
        sumUp(counts);
        return counts.containsKey(Finding.CONFLICT) || counts.containsKey(Finding.REFUSED)
                ? ExitCodes.FAILED
                : ExitCodes.DONE;
    }

    private static Map<String, String> etags(MemoryClient memory) {
        return GatewayClient.all(memory.documents(), MemoryPage.Version.class).stream()
                .collect(Collectors.toMap(MemoryPage.Version::path, MemoryPage.Version::etag));
    }

    private Finding take(MemoryClient memory, MemoryFolder files, Entry.Document document, @Nullable String listed) {
        Judgement judgement = judge(memory, files, document, listed);
        boolean write = judgement.finding() == Finding.NEW
                || judgement.finding() == Finding.CHANGED
                || (judgement.finding() == Finding.CONFLICT && force);
        if (!write) {
            return told(judgement.finding(), document);
        }
        Finding done = judgement.finding() == Finding.CONFLICT ? Finding.CHANGED : judgement.finding();
        if (dryRun) {
            return told(done, document);
        }
        try {
            MemoryPage.Version version =
                    memory.write(document.path(), document.content(), judgement.etag(), author.by());
            files.remember(document.name(), document.content(), version.etag());
            return told(done, document);
        } catch (ChangedException e) {
            tell(Finding.CONFLICT, document.name() + ": " + e.getMessage());
            return Finding.CONFLICT;
        }
    }

    private Judgement judge(MemoryClient memory, MemoryFolder files, Entry.Document document, @Nullable String listed) {
        Optional<Origin> origin = files.origin(document.name());
        boolean untouched = origin.map(known -> known.had(document.content())).orElse(false);
        if (listed == null) {
            return new Judgement(
                    origin.isEmpty() ? Finding.NEW : untouched ? Finding.GONE_THERE : Finding.CONFLICT,
                    MemoryClient.NOTHING);
        }
        if (origin.map(known -> known.etag().equals(listed)).orElse(false)) {
            return new Judgement(untouched ? Finding.SAME : Finding.CHANGED, listed);
        }
        Optional<GatewayHttp.Text> now = memory.find(document.path());
        if (now.isPresent() && now.get().text().equals(document.content())) {
            files.remember(document.name(), document.content(), now.get().etag());
            return new Judgement(Finding.SAME, now.get().etag());
        }
        return new Judgement(
                untouched ? Finding.NEWER_THERE : Finding.CONFLICT,
                now.map(GatewayHttp.Text::etag).orElse(MemoryClient.NOTHING));
    }

    private Finding told(Finding finding, Entry.Document document) {
        switch (finding) {
            case NEW, CHANGED -> tell(finding, document.name());
            case NEWER_THERE, GONE_THERE ->
                tell(finding, document.name() + ": the file was not changed since it was exported");
            case CONFLICT ->
                tell(
                        finding,
                        document.name()
                                + ": changed here and in memory, or not from an export; --force writes it all the"
                                + " same");
            case SAME, REFUSED -> {}
        }
        return finding;
    }

    private void tell(Finding finding, String what) {
        String line = finding.word() + ": " + what;
        if (finding == Finding.NEW || finding == Finding.CHANGED) {
            done(Map.of("finding", finding.word(), "document", what), line);
        } else {
            err(line);
        }
    }

    private void sumUp(Map<Finding, Integer> counts) {
        String sums = counts.entrySet().stream()
                .map(count -> count.getValue() + " " + count.getKey().word())
                .collect(Collectors.joining(", "));
        err((sums.isEmpty() ? "No documents" : sums) + (dryRun ? "; nothing was written (--dry-run)." : "."));
    }
}
