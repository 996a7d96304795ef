import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Sums up Maven's reports of tests, module by module and together: {@code java scripts/TestReports.java ROOT STARTED}. Only
 * reports that are newer than the file STARTED count. Names what has passed only when it was run again.
 */
public final class TestReports {

    private static final List<String> NUMBERS = List.of("tests", "failures", "errors", "skipped");
    private static final Pattern FLAKY =
            Pattern.compile("<testcase name=\"([^\"]*)\" classname=\"([^\"]*)\"[^>]*>\\s*<flaky(?:Failure|Error)");

    private static final List<String> AGAIN = new ArrayList<>();

    public static void main(String... args) throws Exception {
        Path root = Path.of(args[0]);
        FileTime started = Files.getLastModifiedTime(Path.of(args[1]));
        int[] together = new int[NUMBERS.size()];
        Matcher modules = Pattern.compile("<module>(.*)</module>").matcher(Files.readString(root.resolve("pom.xml")));
        while (modules.find()) {
            int[] module = new int[NUMBERS.size()];
            for (String kind : List.of("surefire-reports", "failsafe-reports")) {
                Path folder = root.resolve(Path.of(modules.group(1), "target", kind));
                try (Stream<Path> files = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
                    for (Path file : files.filter(path -> path.getFileName().toString().matches("TEST-.*[.]xml")).toList()) {
                        if (Files.getLastModifiedTime(file).compareTo(started) > 0) {
                            add(Files.readString(file), module);
                        }
                    }
                }
            }
            if (module[0] > 0) {
                print(modules.group(1), module);
                Arrays.setAll(together, i -> together[i] + module[i]);
            }
        }
        print("together", together);
        AGAIN.forEach(test -> System.out.println("FLAKY: " + test + " has failed, and passed when it was run again"));
    }

    private static void add(String report, int[] sums) {
        FLAKY.matcher(report).results().forEach(test -> AGAIN.add(test.group(2) + "." + test.group(1)));
        Matcher suite = Pattern.compile("<testsuite [^>]*").matcher(report);
        for (int i = 0; i < sums.length && suite.find(0); i++) {
            Matcher number = Pattern.compile(" " + NUMBERS.get(i) + "=\"(\\d+)").matcher(suite.group());
            sums[i] += number.find() ? Integer.parseInt(number.group(1)) : 0;
        }
    }

    private static void print(String name, int[] sums) {
        System.out.printf("  %-26s %5d run, %d failed, %d skipped%n", name, sums[0], sums[1] + sums[2], sums[3]);
    }
}
