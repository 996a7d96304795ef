package dev.millrace.gateway.rest.a2a;

import dev.millrace.api.AgentView;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** How an agent introduces itself. */
@Schema(name = "A2aAgentCard", description = "As A2A describes it.")
record A2aCard(
        String name,
        String description,
        String version,
        List<Interface> supportedInterfaces,
        Capabilities capabilities,
        Map<String, Map<String, Map<String, String>>> securitySchemes,
        List<Map<String, Map<String, Map<String, List<String>>>>> securityRequirements,
        List<String> defaultInputModes,
        List<String> defaultOutputModes,
        List<Skill> skills) {
    /** Of the protocol. */
    static final String PROTOCOL = "1.0";

    static final String TEXT = "text/plain";
    static final String JSON = "application/json";

    /** By which an agent can be had. */
    @Schema(name = "A2aInterface")
    record Interface(String url, String protocolBinding, String protocolVersion) {}

    @Schema(name = "A2aCapabilities")
    record Capabilities(boolean streaming, boolean pushNotifications, boolean extendedAgentCard) {}

    @Schema(name = "A2aSkill")
    record Skill(String id, String name, String description, List<String> tags) {}

    /**
     * The card of an agent.
     *
     * @param base of this gateway, as the client has it
     * @param login whether callers have to log in
     */
    static A2aCard of(AgentView agent, URI base, boolean login) {
        String url = base.resolve("/a2a/" + agent.name()).toString();
        return new A2aCard(
                agent.name(),
                agent.description(),
                agent.version(),
                List.of(new Interface(url, "JSONRPC", PROTOCOL), new Interface(url, "HTTP+JSON", PROTOCOL)),
                new Capabilities(true, false, false),
                login ? Map.of("login", Map.of("httpAuthSecurityScheme", Map.of("scheme", "Bearer"))) : Map.of(),
                login ? List.of(Map.of("schemes", Map.of("login", Map.of("list", List.of())))) : List.of(),
                List.of(TEXT, JSON),
                List.of(TEXT),
                List.of(new Skill(agent.name(), agent.name(), agent.description(), List.of("agent"))));
    }
}
