package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/tutorial.md, followed to the letter. Where it has a picture, that screen is opened in a real browser, if there is
 * one; with {@code -Dmillrace.docs.write=true} the picture is taken.
 */
class TutorialIT {

    private static final Path CLONE = Path.of("..").toAbsolutePath().normalize();
    private static final Path PAGE = CLONE.resolve("docs/tutorial.md");
    private static final Path PICTURES = CLONE.resolve("docs/pictures");
    private static final List<String> PROGRAMS = List.of("bash", "curl", "awk");
    /** A picture, with the screen that it is of; the same stands behind it as an image. */
    private static final Pattern PICTURE = Pattern.compile(
            "<!-- picture: (?<name>[a-z-]+) of (?<path>\\S+) -->\\n!\\[[^\\]]+\\]\\(pictures/(?<file>[^)]+)\\)");

    private final int port = FreePort.find();
    private final int kafkaPort = FreePort.find();

    @TempDir
    Path folder;

    @Test
    @DisplayName("the tutorial is true: an agent of one's own, a Java tool, a stream, an approval, a crash survived")
    void shouldBeAsTheTutorialSays() throws Exception {
        List<String> missing = PROGRAMS.stream()
                .filter(program -> Packages.program(program).isEmpty())
                .toList();
        if (!missing.isEmpty()) {
            System.err.println("SKIPPED: TutorialIT needs " + String.join(", ", missing) + " on the PATH");
        }
        Assumptions.assumeTrue(missing.isEmpty(), "programs are missing");
        String page = Files.readString(PAGE);
        List<MatchResult> pictures = PICTURE.matcher(page).results().toList();
        assertThat(pictures).hasSize(4).allSatisfy(picture -> {
            assertThat(picture.group("file")).isEqualTo(picture.group("name") + ".png");
            assertThat(PICTURES.resolve(picture.group("file")))
                    .matches(file -> Files.isRegularFile(file) || Boolean.getBoolean("millrace.docs.write"));
        });
        launcher();

        try (Playwright playwright = ConsoleStage.playwright("TutorialIT").orElse(null);
                Browser browser = playwright == null ? null : ConsoleStage.browser(playwright);
                Walkthrough walk = new Walkthrough(folder, environment())
                        .within(Packages.PACKING)
                        .with("localhost:8080", "127.0.0.1:" + port)) {
            int from = 0;
            int followed = 0;
            for (MatchResult picture : pictures) {
                followed += follow(walk, page.substring(from, picture.start()));
                look(browser, picture.group("path"), PICTURES.resolve(picture.group("file")));
                from = picture.end();
            }
            followed += follow(walk, page.substring(from));
            assertThat(followed).isEqualTo(Walkthrough.blocks(page).size()).isGreaterThan(10);
        }
    }

    private static int follow(Walkthrough walk, String part) throws IOException, InterruptedException {
        List<Walkthrough.Block> blocks = Walkthrough.blocks(part);
        for (Walkthrough.Block block : blocks) {
            try {
                walk.follow(block);
            } catch (Walkthrough.DeviationError e) {
                Packages.skipWithoutNetwork("TutorialIT", block, e);
            }
        }
        return blocks.size();
    }

    private void look(@Nullable Browser browser, String path, Path picture) {
        if (browser == null) {
            return;
        }
        try (Page page = browser.newPage(new Browser.NewPageOptions().setViewportSize(1280, 800))) {
            page.navigate("http://127.0.0.1:" + port + "/console" + path);
            PlaywrightAssertions.assertThat(page.locator("main h1")).isVisible();
            PlaywrightAssertions.assertThat(page.getByText("Loading…")).hasCount(0);
            PlaywrightAssertions.assertThat(page.locator("main [role=alert]")).hasCount(0);
            page.waitForTimeout(500);
            if (Boolean.getBoolean("millrace.docs.write")) {
                page.screenshot(new Page.ScreenshotOptions().setPath(picture));
            }
        }
    }

    /** The launcher as the page sees it, with a Millrace that is built. */
    private void launcher() throws IOException {
        String java = ServiceProcess.standalone("").command().stream()
                .filter(argument -> !argument.isEmpty())
                .map(argument -> "'" + argument + "'")
                .collect(Collectors.joining(" "));
        Path file = folder.resolve("millrace");
        Files.writeString(file, """
                #!/usr/bin/env bash
                case "$1" in
                    package) exec '%s' "$@" ;;
                    up) exec %s "$@" --port %d --kafka-port %d ;;
                    *) exec %s "$@" ;;
                esac
                """.formatted(CLONE.resolve("millrace"), java, port, kafkaPort, java));
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private Map<String, String> environment() {
        return Map.of(
                "PATH", Path.of(System.getProperty("java.home"), "bin") + ":" + System.getenv("PATH"),
                "MILLRACE_URL", "http://127.0.0.1:" + port);
    }
}
