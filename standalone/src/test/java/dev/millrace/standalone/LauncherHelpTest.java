package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.standalone.cli.Terminal;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What {@code ./millrace help} and docs/operations.md say of the commands is what the commands are. */
class LauncherHelpTest {

    private static final Path LAUNCHER = Path.of("..", "millrace");
    private static final Path OPERATIONS = Path.of("..", "docs", "operations.md");

    /** What the script does itself. */
    private static final Set<String> SCRIPTS_OWN = Set.of("images", "package", "build", "bench", "test", "help");

    /** What the text says once for all. */
    private static final Set<String> EVERYWHERE = Set.of("--help", "--version", "--url", "--json", "--token");

    private static final Pattern ENTRY = Pattern.compile("  ((?:[a-z-]+ )*[a-z-]+)(?: [A-Z\\[\"].*?)?(?: {2,}.*)?");
    private static final Pattern OPTION = Pattern.compile("--[a-z][a-z-]*");
    /** In quotes or not. */
    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\d)` \\| (.*) \\|$");

    private static final CommandLine COMMANDS = Main.commandLine(new Terminal(
            new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
            new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
            null,
            false,
            Terminal.DEFAULT_COLUMNS));

    @Test
    @DisplayName("./millrace help has every command with every option, and no other")
    void shouldListEveryCommandAndOption() throws IOException {
        // given
        Map<String, Set<String>> there = new TreeMap<>();
        collect("", COMMANDS, there);

        // when
        Map<String, Set<String>> told = told();

        // then
        assertThat(told.keySet()).containsAll(SCRIPTS_OWN);
        told.keySet().removeAll(SCRIPTS_OWN);
        assertThat(told).isEqualTo(there);
    }

    @Test
    @DisplayName("the help of every command ends with examples, and each of them is a command that there is")
    void shouldShowExamplesThatParse() {
        for (CommandLine command : COMMANDS.getSubcommands().values()) {
            CommandLine.Model.CommandSpec spec = command.getCommandSpec();
            if (spec.usageMessage().hidden() || spec.name().equals("help")) {
                continue;
            }
            String[] examples = spec.usageMessage().footer();
            assertThat(examples).as(spec.name()).isNotEmpty();
            for (String example : examples) {
                List<String> words = words(example, spec.name());
                assertThat(words).as(example).isNotEmpty();
                assertThatCode(() -> COMMANDS.parseArgs(words.toArray(String[]::new)))
                        .as(example)
                        .doesNotThrowAnyException();
            }
        }
    }

    /** What a shell makes of a Millrace command, which may be a part of a line. */
    private static List<String> words(String line, String name) {
        String command = Arrays.stream(line.strip().split(" \\| "))
                .map(part -> part.replaceFirst("^source <\\((.*)\\)$", "$1")
                        .replaceFirst(" >> .*", "")
                        .replaceFirst("^(\\./)?millrace ", ""))
                .filter(part -> part.equals(name) || part.startsWith(name + ' '))
                .findFirst()
                .orElse("");
        return WORD.matcher(command)
                .results()
                .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                .toList();
    }

    @Test
    @DisplayName("docs/operations.md has every exit code as --help has it, and there is no other")
    void shouldListEveryExitCode() throws IOException {
        // given
        Map<String, String> documented = new LinkedHashMap<>();
        Matcher rows = ROW.matcher(Files.readString(OPERATIONS));
        while (rows.find()) {
            documented.put(rows.group(1), rows.group(2).replace("`", ""));
        }

        // then
        for (CommandLine command : COMMANDS.getSubcommands().values()) {
            assertThat(command.getCommandSpec().usageMessage().exitCodeList())
                    .as(command.getCommandName())
                    .isEqualTo(documented);
        }
        assertThat(Arrays.stream(ExitCodes.class.getFields()).map(LauncherHelpTest::value))
                .containsExactlyInAnyOrderElementsOf(documented.keySet());
    }

    private static String value(Field constant) {
        try {
            return String.valueOf(constant.get(null));
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** A group that does something itself is a command as well; what it repeats of the top level is told there. */
    private static void collect(String prefix, CommandLine command, Map<String, Set<String>> found) {
        command.getSubcommands().forEach((name, sub) -> {
            if (sub.getCommandSpec().usageMessage().hidden() || SCRIPTS_OWN.contains(name)) {
                return;
            }
            if (!prefix.isEmpty() && isTopLevel(sub.getCommand().getClass())) {
                return;
            }
            collect(prefix + name + ' ', sub, found);
            if (!sub.getSubcommands().isEmpty() && !(sub.getCommand() instanceof Callable)) {
                return;
            }
            Set<String> options = new TreeSet<>();
            sub.getCommandSpec().options().stream()
                    .filter(option -> !option.hidden())
                    .map(CommandLine.Model.OptionSpec::longestName)
                    .filter(option -> !EVERYWHERE.contains(option))
                    .forEach(options::add);
            found.put(prefix + name, options);
        });
    }

    private static boolean isTopLevel(Class<?> command) {
        return COMMANDS.getSubcommands().values().stream()
                .anyMatch(other -> other.getCommand().getClass() == command);
    }

    /** What the text says: the options of each command. */
    private static Map<String, Set<String>> told() throws IOException {
        String script = Files.readString(LAUNCHER);
        int begin = script.indexOf("<<'TEXT'\n");
        String text = script.substring(begin, script.indexOf("\nTEXT\n", begin));
        assertThat(text).contains("--help", "--url", "--json");
        Map<String, Set<String>> told = new TreeMap<>();
        Set<String> current = new TreeSet<>();
        for (String line : text.lines().toList()) {
            Matcher entry = ENTRY.matcher(line);
            if (entry.matches()) {
                current = new TreeSet<>();
                assertThat(told.put(entry.group(1), current)).as(line).isNull();
            } else if (!line.startsWith(" ".repeat(17))) {
                current = new TreeSet<>();
            }
            Matcher option = OPTION.matcher(line);
            while (option.find()) {
                current.add(option.group());
            }
        }
        told.values().forEach(options -> options.removeAll(EVERYWHERE));
        return told;
    }
}
