package dev.millrace.tools.skills;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Calls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("F-157: skills")
class UseSkillTest {

    @TempDir
    Path folder;

    @Test
    @DisplayName("are listed in the tool's description, and read by name")
    void shouldGiveASkill() throws Exception {
        // given
        skill("release", "---\ndescription: Cutting a release.\nlicense: MIT\n---\n\n1. Tag it.\n");
        skill("books", "---\nname: books\ndescription: Keeping books.\n---\nNever guess.");

        // when
        UseSkill tool = new UseSkill(SkillFolder.read(folder));

        // then
        assertThat(tool.definition().description())
                .endsWith("\n- books: Keeping books.\n- release: Cutting a release.");
        assertThat(Calls.result(tool, Map.of("name", "release")))
                .isEqualTo(Map.of("name", "release", "content", "1. Tag it."));
    }

    @Test
    @DisplayName("of names that lead elsewhere, or of nobody, are refused with those that there are")
    void shouldRefuseOtherNames() throws Exception {
        // given
        skill("books", "---\ndescription: Keeping books.\n---\nNever guess.");
        UseSkill tool = new UseSkill(SkillFolder.read(folder));

        for (String name : List.of("../books", "books/../books", "/etc/passwd", "Books", "")) {
            ToolException no = Calls.refusal(tool, Map.of("name", name));
            assertThat(no.code()).isEqualTo("unknown_skill");
            assertThat(no.getMessage()).contains("[books]");
        }
    }

    @Test
    @DisplayName("that are no good are left out, and the others are there")
    void shouldLeaveOutWhatIsNoGood() throws Exception {
        // given
        skill("good", "---\ndescription: Good.\n---\nDo it." + " ".repeat(10));
        skill("Big-Name", "---\ndescription: Good.\n---\nDo it.");
        skill("other", "---\nname: good\ndescription: Good.\n---\nDo it.");
        skill("headless", "Do it.");
        skill("endless", "---\ndescription: Good.\nDo it.");
        skill("speechless", "---\ndescription: Good.\n---\n");
        skill("nameless", "---\nlicense: MIT\n---\nDo it.");
        skill("long", "---\ndescription: " + "x".repeat(Skill.MAX_DESCRIPTION + 1) + "\n---\nDo it.");
        skill("large", "---\ndescription: Good.\n---\n" + "x".repeat(SkillFolder.MAX_BYTES));
        Path outside = Files.createTempFile("skill", ".md");
        Files.writeString(outside, "---\ndescription: Good.\n---\nSecret.");
        Files.createDirectory(folder.resolve("link"));
        Files.createSymbolicLink(folder.resolve("link/SKILL.md"), outside);

        // then
        assertThat(SkillFolder.read(folder)).containsExactly(new Skill("good", "Good.", "Do it."));
        assertThat(SkillFolder.read(folder.resolve("nothing"))).isEmpty();
        Files.delete(outside);
    }

    @Test
    @DisplayName("are bounded: the longest description and as many as there may be")
    void shouldReachItsLimits() throws Exception {
        // given
        for (int i = 0; i <= SkillFolder.MAX_SKILLS; i++) {
            skill("s" + (100 + i), "---\ndescription: " + "x".repeat(Skill.MAX_DESCRIPTION) + "\n---\nDo it.");
        }

        // then
        assertThat(SkillFolder.read(folder))
                .hasSize(SkillFolder.MAX_SKILLS)
                .last()
                .extracting(Skill::name)
                .isEqualTo("s149");
    }

    private void skill(String name, String text) throws IOException {
        Files.createDirectory(folder.resolve(name));
        Files.writeString(folder.resolve(name).resolve("SKILL.md"), text);
    }
}
