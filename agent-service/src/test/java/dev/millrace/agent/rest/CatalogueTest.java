package dev.millrace.agent.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Agents;
import dev.millrace.agent.ServedTools;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.files.AgentFile;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.schemas.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CatalogueTest {

    private static final String FILE = """
            ---
            name: clerk
            description: Keeps books.
            tools: [read_file]
            model: fast
            fallback: slow
            temperature: 0.5
            output:
              type: object
              required: [total]
              properties: { total: { type: number } }
            limits: { iterations: 3, tokens: 100, cost: 0.25, toolCallsPerStep: 2, lifeTime: 1h }
            approval: { read_file: { when: 'args.path == "x"', expiry: 1m, onExpiry: approve } }
            sequential: true
            subAgents: [explore]
            allowedAgents: [general]
            knowledge: { mode: auto, collection: house, limit: 3, entities: thread }
            ---
            You keep books.
            """;

    /** Key of a file, as docs/agents.md has it, and where the answer has it. */
    private static final Map<String, String> SHOWN =
            Map.of("limits.cost", "costMicros", "limits.lifeTime", "lifeTimeMs");

    private static final Pattern KEY = Pattern.compile("(?m)^\\| `([a-zA-Z.]+)` \\|");

    @Test
    @DisplayName("an agent is shown with everything that its file says")
    void shouldShowEveryKey() throws Exception {
        // given
        Map<String, @Nullable Object> shown = shown();
        String page = Files.readString(Path.of("../docs/agents.md"));
        String keys = page.substring(page.indexOf("### Keys"), page.indexOf("### Fields of the prompt"));
        // then
        List<String> documented =
                KEY.matcher(keys).results().map(match -> match.group(1)).toList();
        assertThat(documented).hasSizeGreaterThan(14).contains("output", "fallback", "limits.cost");
        for (String key : documented) {
            int dot = key.indexOf('.');
            Object where = dot < 0 ? shown : shown.get(key.substring(0, dot));
            assertThat(where).as(key).isInstanceOf(Map.class);
            String last = SHOWN.getOrDefault(key, key.substring(dot + 1));
            assertThat(where instanceof Map<?, ?> object ? object.get(last) : null)
                    .as(key)
                    .isNotNull();
        }
        assertThat(shown)
                .containsEntry("fallback", "slow")
                .containsEntry("allowedAgents", List.of("general"))
                .containsEntry("prompt", "You keep books.")
                .extractingByKey("output")
                .isEqualTo(Map.of(
                        "type",
                        "object",
                        "required",
                        List.of("total"),
                        "properties",
                        Map.of("total", Map.of("type", "number"))));
    }

    private static Map<String, @Nullable Object> shown() throws Exception {
        Agents agents = BuiltInAgents.agents();
        AgentDefinition clerk = AgentFile.ofText("clerk", FILE).definition();
        agents.add(clerk);
        agents.use(clerk.name(), clerk.version());
        ServedTools tools = new ServedTools(toolset -> true);
        ToolRouting routing = new ToolRouting(agents, tools, new Approvals(Duration.ofHours(1)));
        return Json.readObject(Json.write(new Catalogue(agents, tools, routing, List::of)
                .agent("clerk", new AgentCatalogue.Whose(null))
                .orElseThrow()));
    }
}
