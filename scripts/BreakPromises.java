import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Breaks the promises of the README on purpose, one at a time, in a copy of the last commit, and expects the tests that hold
 * them to fail: {@code java scripts/BreakPromises.java [--log | --check] [NAME…]}. For people; takes about two minutes a
 * break. Prints the rows of docs/promises.md. Ends with 1 if a test did not fail, or if a break does not fit the code any
 * more; {@code --check} looks at the latter alone, in seconds.
 */
public final class BreakPromises {

    /**
     * One way to break a promise.
     *
     * @param name for the command line; those of one row of the README begin alike
     * @param tests {@code module TestClass[#method]}; each has to fail
     * @param changes what is replaced in the product, each text exactly once in its file
     */
    private record Break(String name, String what, List<String> tests, List<Change> changes) {}

    private record Change(String file, String from, String to) {}

    private static final String AGENT = "agent-service/src/main/java/dev/millrace/agent/";
    private static final String ENGINE = "engine/src/main/java/dev/millrace/engine/";
    private static final String GATEWAY = "gateway-service/src/main/java/dev/millrace/gateway/";
    private static final String KAFKA = "kafka/src/main/java/dev/millrace/kafka/";
    private static final String LLM = "llm/src/main/java/dev/millrace/llm/";
    private static final String REQUESTS = "requests/src/main/java/dev/millrace/requests/";

    private static final List<Break> BREAKS = List.of(
            new Break(
                    "accepted-acks",
                    "producers wait for one replica (`acks=1`)",
                    List.of("bench ReplicasIT", "standalone ProducersIT"),
                    List.of(
                            change(
                                    KAFKA + "ClientSettings.java",
                                    "with(ProducerConfig.ACKS_CONFIG, \"all\")",
                                    "with(ProducerConfig.ACKS_CONFIG, \"1\")"),
                            change(
                                    KAFKA + "ClientSettings.java",
                                    "with(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true)",
                                    "with(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, false)"))),
            new Break(
                    "accepted-early",
                    "the gateway answers before the brokers have",
                    List.of("bench ReplicasIT"),
                    List.of(change(
                            KAFKA + "AcknowledgedProducer.java",
                            "stored.add(one.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));",
                            "stored.add(end == 0 ? one.get(1, TimeUnit.NANOSECONDS) : new RecordMetadata("
                                    + "new org.apache.kafka.common.TopicPartition(\"\", 0), 0, 0, 0, 0, 0));"))),
            new Break(
                    "moves-transaction",
                    "the machine works without transactions (`at_least_once`)",
                    List.of("standalone CrashIT#shouldFinishEverythingAfterAKill"),
                    List.of(change(
                            ENGINE + "MachineStreams.java",
                            "StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2",
                            "StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE"))),
            new Break(
                    "moves-stale",
                    "a reply that nobody waits for moves the task",
                    List.of("agent-service TaskFsmWalkTest"),
                    List.of(change(
                            AGENT + "core/TaskFsm.java",
                            "case ModelReplied e when !e.callId().equals(s.awaiting())",
                            "case ModelReplied e when e.callId().isEmpty()"))),
            new Break(
                    "calls-fence",
                    "calls are repeated at once, without a fence",
                    List.of("agent-service AgentRuntimeIT"),
                    List.of(change(
                            ENGINE + "OutstandingCalls.java",
                            "modelCalls.fence(partition, set.value());",
                            "calls.forEach(call -> repeat(java.util.Objects.requireNonNull(store.get(call))));"))),
            new Break(
                    "calls-settled",
                    "a call that has its reply stays among those that are out",
                    List.of("standalone CrashIT#shouldFinishEverythingAfterAKill"),
                    List.of(change(
                            ENGINE + "OutstandingCalls.java",
                            "C call = store.delete(callKey);",
                            "C call = store.get(callKey);"))),
            new Break(
                    "tools-given-back",
                    "a tool's request leaves the topic although its run was interrupted",
                    List.of("requests RequestWorkerIT"),
                    List.of(change(
                            REQUESTS + "JobRunner.java",
                            "outcome = AcknowledgeType.RELEASE;",
                            "outcome = AcknowledgeType.ACCEPT;"))),
            new Break(
                    "tools-key",
                    "each delivery has another idempotency key",
                    List.of("requests RequestWorkerIT"),
                    List.of(change(
                            REQUESTS + "Request.java",
                            "required(\"callId\", asked.get(\"callId\")),",
                            "required(\"callId\", asked.get(\"callId\")) + (deliveryCount > 1 ? deliveryCount : \"\"),"))),
            new Break(
                    "order-stray",
                    "a record on a foreign partition is taken where it is",
                    List.of("agent-service TaskTopologyTest"),
                    List.of(change(
                            AGENT + "topology/Intake.java",
                            "} else if (isHome(event) || Broadcast.isSearch(incoming.headers(), event)) {",
                            "} else if (isHome(event) || !event.id().isEmpty()) {"))),
            new Break(
                    "session-two",
                    "two tasks of a session work at a time",
                    List.of("agent-service AdmissionTopologyTest", "agent-service SteeringIT"),
                    List.of(change(
                            AGENT + "topology/ConversationQueue.java",
                            "if (holders.isEmpty()) {\n            return waiting.first();",
                            "if (holders.size() < 2) {\n            return waiting.first();"))),
            new Break(
                    "waits-deadline",
                    "nobody is woken when a deadline passes",
                    List.of("agent-service SteeringIT"),
                    List.of(change(
                            AGENT + "topology/TaskProcessor.java",
                            "forgetting.run(now);\n                    moves.wake(now);",
                            "forgetting.run(now);"))),
            new Break(
                    "waits-cancel",
                    "a cancel does not reach the call of the model that is out",
                    List.of("agent-service SteeringIT"),
                    List.of(change(
                            ENGINE + "OutstandingCalls.java",
                            "if (call != null) {\n            whenKept",
                            "if (call != null && partition < 0) {\n            whenKept"))),
            new Break(
                    "approval-skipped",
                    "a call runs without the approval that it needs",
                    List.of("standalone ApprovalIT"),
                    List.of(change(
                            AGENT + "core/Steps.java",
                            "when run.approval() != null -> {",
                            "when run.approval() != null && nowMs < 0 -> {"))),
            new Break(
                    "approval-other",
                    "what runs is what the model asked for, not what the person made of it",
                    List.of("standalone ApprovalIT"),
                    List.of(change(
                            AGENT + "core/Suspension.java",
                            ": new Held(arguments, run, true);",
                            ": new Held(deciding.arguments(), run, true);"))),
            new Break(
                    "watch-gap",
                    "who comes back misses the record where the backfill ends",
                    List.of("gateway-service FeedTest"),
                    List.of(change(
                            GATEWAY + "kafka/Mailbox.java",
                            "if (letter.offset() < from) {",
                            "if (letter.offset() <= from) {"))),
            new Break(
                    "watch-twice",
                    "who comes back hears what was kept aside and backfilled twice",
                    List.of("gateway-service FeedTest"),
                    List.of(change(
                            GATEWAY + "kafka/Feed.java",
                            "if (offset < nextOffset || offset < liveFrom) {",
                            "if (offset < 0) {"))),
            new Break(
                    "watch-takeover",
                    "nobody who watches is told that a call is made again by another instance",
                    List.of("standalone CrashIT#shouldTellWatchersThatACallIsMadeAgain"),
                    List.of(change(
                            AGENT + "thinker/CallStream.java",
                            "number > 1 ? \"retry\" : call.takeovers() > 0 ? \"takeover\" : null;",
                            "number > 1 ? \"retry\" : null;"))),
            new Break(
                    "rates-margin",
                    "a request counts for the window without its margin",
                    List.of("agent-service SharedRatesIT"),
                    List.of(change(
                            LLM + "rates/RateLimit.java",
                            "window.plus(margin).toMillis()",
                            "window.toMillis()"))),
            new Break(
                    "rates-one-more",
                    "one request more than the limit is granted",
                    List.of("agent-service SharedRatesIT"),
                    List.of(change(
                            LLM + "rates/RateWindow.java",
                            "requestsBefore < maxRequests",
                            "requestsBefore <= maxRequests"))),
            new Break(
                    "usage-failed",
                    "what was charged for attempts that gave no reply is left out",
                    List.of("standalone UsageIT"),
                    List.of(change(
                            ENGINE + "ModelUsage.java",
                            "used = replied.reply().usage().plus(used);",
                            "used = replied.reply().usage();"))),
            new Break(
                    "usage-lost",
                    "a reply that was lost in a crash is not told of",
                    List.of("standalone UsageIT#shouldCountEachCallOnceAfterAKill"),
                    List.of(change(
                            ENGINE + "ModelUsage.java",
                            "int attempts = takeovers + outcome.attempts();",
                            "int attempts = Math.min(0, takeovers) + outcome.attempts();"))),
            new Break(
                    "bad-record",
                    "what cannot be taken is not put aside",
                    List.of("agent-service TaskTopologyTest", "standalone HostileSenderIT"),
                    List.of(change(
                            ENGINE + "UnitOfWork.java",
                            "return Optional.of(undo(new Undone(e.code(), e.getMessage(), false)));",
                            "throw new IllegalStateException(e);"))));

    private static final Path ROOT = Path.of("").toAbsolutePath();
    private static final Path COPY = ROOT.resolve("target/promises");
    private static final Pattern CASE =
            Pattern.compile("<testcase name=\"([^\"(]+)[^>]*?(?:/>|>(.*?)</testcase>)", Pattern.DOTALL);

    private final boolean log;
    private final boolean checkOnly;

    private BreakPromises(Set<String> options) {
        this.log = options.contains("--log");
        this.checkOnly = options.contains("--check");
    }

    private static Change change(String file, String from, String to) {
        return new Change(file, from, to);
    }

    public static void main(String... args) throws IOException, InterruptedException {
        if (!Files.isExecutable(ROOT.resolve("mvnw"))) {
            throw new IllegalArgumentException("expected to be run from the root of the repository, found " + ROOT);
        }
        Set<String> wanted = Set.of(
                Stream.of(args).filter(arg -> !arg.startsWith("-")).toArray(String[]::new));
        List<Break> breaks = BREAKS.stream()
                .filter(one -> wanted.isEmpty()
                        || wanted.stream().anyMatch(name -> one.name().startsWith(name)))
                .toList();
        System.exit(new BreakPromises(Set.of(args)).run(breaks) ? 0 : 1);
    }

    private boolean run(List<Break> breaks) throws IOException, InterruptedException {
        copy();
        boolean allFailed = !breaks.isEmpty();
        for (Break one : breaks) {
            if (!apply(one)) {
                allFailed = false;
                continue;
            }
            for (String test : checkOnly ? List.<String>of() : one.tests()) {
                String failed = failureOf(test);
                System.out.println("| `" + one.name() + "` | " + one.what() + " | " + failed + " |");
                allFailed &= failed.startsWith("`");
            }
            command(COPY, "git", "checkout", "--quiet", "--", ".");
        }
        return allFailed;
    }

    /** Keeps what was built in it before. */
    private void copy() throws IOException, InterruptedException {
        if (!Files.isDirectory(COPY.resolve(".git"))) {
            Files.createDirectories(COPY.getParent());
            command(ROOT, "git", "clone", "--quiet", "--shared", ROOT.toString(), COPY.toString());
        }
        command(COPY, "git", "fetch", "--quiet", "origin", "HEAD");
        command(COPY, "git", "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD");
        Path maven = Path.of(".mvn/dist");
        if (Files.isDirectory(ROOT.resolve(maven)) && !Files.exists(COPY.resolve(maven))) {
            Files.createSymbolicLink(COPY.resolve(maven), ROOT.resolve(maven));
        }
    }

    private static boolean apply(Break one) throws IOException {
        for (Change change : one.changes()) {
            Path file = COPY.resolve(change.file());
            String text = Files.exists(file) ? Files.readString(file) : "";
            int at = text.indexOf(change.from());
            if (at < 0 || text.indexOf(change.from(), at + 1) >= 0) {
                System.out.println("| `" + one.name() + "` | " + one.what()
                        + " | MUST BE UPDATED: expected once in " + change.file() + ": " + change.from() + " |");
                return false;
            }
            Files.writeString(file, text.replace(change.from(), change.to()));
        }
        return true;
    }

    /** The test methods that failed, in code quotes; else in words what happened instead. */
    private String failureOf(String test) throws IOException, InterruptedException {
        String module = test.substring(0, test.indexOf(' '));
        String name = test.substring(module.length() + 1);
        String testClass = name.replaceFirst("#.*", "");
        boolean onBroker = testClass.endsWith("IT");
        forgetReports();
        List<String> command = new ArrayList<>(List.of(
                "./mvnw",
                "-q",
                onBroker ? "verify" : "test",
                "-pl",
                module,
                "-am",
                "-Dspotless.check.skip=true",
                "-Dsurefire.failIfNoSpecifiedTests=false",
                "-Dfailsafe.failIfNoSpecifiedTests=false",
                "-Dtest=" + (onBroker ? "None" : name)));
        if (onBroker) {
            command.add("-Dit.test=" + name);
        }
        command(COPY, command.toArray(String[]::new));
        List<String> failed = new ArrayList<>();
        boolean ran = false;
        for (Path report : reports()) {
            if (report.getFileName().toString().endsWith("." + testClass + ".xml")) {
                Matcher cases = CASE.matcher(Files.readString(report));
                while (cases.find()) {
                    ran = true;
                    String inside = cases.group(2);
                    if (inside != null && (inside.contains("<failure") || inside.contains("<error"))) {
                        failed.add("`" + testClass + "." + cases.group(1) + "`");
                    }
                }
            }
        }
        return !failed.isEmpty()
                ? String.join(", ", failed.stream().distinct().toList())
                : ran ? "NONE of " + testClass : "NOT RUN: " + testClass + " (see with --log)";
    }

    /** Those of the last run, and its summary, which would fail the next one. */
    private static void forgetReports() throws IOException {
        for (Path report : reports()) {
            Files.delete(report);
        }
    }

    private static List<Path> reports() throws IOException {
        PathMatcher xml = FileSystems.getDefault().getPathMatcher("glob:**/target/{surefire,failsafe}-reports/*.xml");
        try (Stream<Path> files = Files.walk(COPY, 4)) {
            return files.filter(xml::matches).sorted(Comparator.naturalOrder()).toList();
        }
    }

    private void command(Path folder, String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        try (BufferedReader output = process.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (log) {
                    System.err.println(line);
                }
            }
        }
        int code = process.waitFor();
        if (code != 0 && command[0].equals("git")) {
            throw new IOException(String.join(" ", command) + " ended with " + code);
        }
    }
}
