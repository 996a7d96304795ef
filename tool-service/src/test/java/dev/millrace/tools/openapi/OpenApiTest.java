package dev.millrace.tools.openapi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.requests.Reply;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tool.api.ToolException.Again;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import dev.millrace.tools.http.HttpCalls;
import dev.millrace.tools.secrets.Secrets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against an API on the loopback address. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OpenApiTest {

    private static final String PETS = """
        openapi: 3.0.3
        info: { title: Pets, version: "1" }
        servers:
          - url: http://127.0.0.1:{port}/v1/
            variables: { port: { default: "PORT" } }
        paths:
          /pets:
            parameters:
              - { name: X-Tenant, in: header, schema: { type: string } }
            get:
              operationId: listPets
              summary: Lists pets.
              parameters:
                - { name: tag, in: query, schema: { type: array, items: { type: string } } }
                - { name: "filter[age]", in: query, schema: { type: integer } }
                - { $ref: "#/components/parameters/Limit" }
            post:
              operationId: addPet
              requestBody:
                required: true
                content:
                  application/json:
                    schema: { $ref: "#/components/schemas/Pet" }
          /pets/{id}:
            parameters:
              - { name: id, in: path, required: true, schema: { type: string } }
            get: { summary: Shows a pet. }
            put:
              operationId: changePet
              requestBody: { content: { application/merge-patch+json: { schema: { type: object } } } }
            delete: { operationId: removePet }
          /photos:
            post:
              operationId: addPhoto
              requestBody: { required: true, content: { image/png: {} } }
          /old/{lost}:
            get: { operationId: broken }
        components:
          parameters:
            Limit: { name: limit, in: query, description: How many., schema: { type: integer, minimum: 0, exclusiveMinimum: true } }
          schemas:
            Pet:
              type: object
              required: [id, name]
              properties:
                id: { type: string, readOnly: true }
                name: { type: string }
                nick: { type: string, nullable: true }
                mother: { $ref: "#/components/schemas/Pet" }
        """;

    private final List<String> hits = new CopyOnWriteArrayList<>();
    private final HttpServer server;
    private final GuardedHttp client;
    private final HttpCalls calls;
    private final String document;

    OpenApiTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        client = new GuardedHttp(new GuardedHttp.Limits(List.of("127.0.0.1"), 1_000, 1_000, 100_000));
        calls = new HttpCalls(
                client,
                new Secrets(List.of(new Secrets.Secret("KEY", "the-key", List.of("http://127.0.0.1"), Set.of()))));
        document = PETS.replace("PORT", Integer.toString(server.getAddress().getPort()));
    }

    @BeforeEach
    void startServer() {
        server.createContext("/", this::serve);
        server.start();
    }

    @AfterEach
    void stopServer() throws IOException {
        client.close();
        server.stop(0);
    }

    @Test
    void shouldMakeToolsOfOperations() {
        // when
        List<CallableTool> tools = api(List.of()).tools(document, calls);
        // then
        assertThat(tools.stream().map(CallableTool::definition).map(tool -> tool.name() + " " + tool.sideEffects()))
                .containsExactlyInAnyOrder(
                        "pets__listPets " + SideEffects.READ_ONLY,
                        "pets__addPet " + SideEffects.DESTRUCTIVE,
                        "pets__get_pets_id " + SideEffects.READ_ONLY,
                        "pets__changePet " + SideEffects.IDEMPOTENT,
                        "pets__removePet " + SideEffects.IDEMPOTENT);
        ToolDefinition list = tool("pets__listPets").definition();
        assertThat(list.description()).isEqualTo("[pets] Lists pets.");
        assertThat(list.approval()).isEqualTo(new ToolDefinition.Approval.Always());
        assertThat(Json.writeText(list.parameters()))
                .isEqualTo("{\"type\":\"object\",\"properties\":{\"X-Tenant\":{\"type\":\"string\"},"
                        + "\"tag\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
                        + "\"filter_age_\":{\"type\":\"integer\"},"
                        + "\"limit\":{\"type\":\"integer\",\"exclusiveMinimum\":0,\"description\":\"How many.\"}},"
                        + "\"required\":[],\"additionalProperties\":false}");
    }

    @Test
    void shouldTakeOnlyWhatIsWanted() {
        assertThat(api(List.of("list*", "removePet")).tools(document, calls).stream()
                        .map(tool -> tool.definition().name()))
                .containsExactlyInAnyOrder("pets__listPets", "pets__removePet");
    }

    @Test
    void shouldPutArgumentsWhereTheyBelong() throws ToolException, InterruptedException {
        // when
        Map<String, Object> result = Calls.result(
                tool("pets__listPets"),
                Map.of("X-Tenant", "acme", "tag", List.of("a b", "c&d"), "filter_age_", 3, "limit", 1));
        // then
        assertThat(result).isEqualTo(Map.of("status", 200, "body", List.of(Map.of("name", "Rex"))));
        assertThat(hits.getFirst()).startsWith("GET /v1/pets?").endsWith(" acme the-key null null ");
        assertThat(hits.getFirst()).contains("tag=a%20b&tag=c%26d", "filter%5Bage%5D=3", "limit=1");
    }

    @Test
    void shouldSendBodiesWithTheCallId() throws ToolException, InterruptedException {
        // when
        Calls.result(tool("pets__addPet"), Map.of("body", Map.of("name", "Rex")));
        Calls.result(tool("pets__changePet"), Map.of("id", "a/b c", "body", Map.of()));
        // then
        assertThat(hits)
                .containsExactly(
                        "POST /v1/pets null the-key call-1 application/json {\"name\":\"Rex\"}",
                        "PUT /v1/pets/a%2Fb%20c null the-key call-1 application/merge-patch+json {}");
    }

    @Test
    void shouldCheckArgumentsAgainstTheSchemaWithItsReferences() throws InterruptedException {
        // given
        CallableTool add = tool("pets__addPet");
        Map<String, Object> mother = Map.of("name", "Ada", "mother", Map.of("name", 5));
        // when
        Reply bad = Calls.executor(add)
                .handle(Calls.request("pets__addPet", Map.of("body", Map.of("name", "Rex", "mother", mother)), 0));
        // then
        assertThat(bad)
                .isInstanceOfSatisfying(
                        Reply.Failed.class, failed -> assertThat(failed.code()).isEqualTo("invalid_arguments"));
        assertThat(hits).isEmpty();
        assertThat(Json.writeText(add.definition().parameters()))
                .contains("\"required\":[\"name\"]", "\"nick\":{\"type\":[\"string\",\"null\"]}")
                .doesNotContain("readOnly", "$ref", "\"id\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {".", "..", ""})
    void shouldNotLeaveThePath(String id) {
        assertThat(Calls.refusal(tool("pets__removePet"), Map.of("id", id)).code())
                .isEqualTo("invalid_arguments");
        assertThat(hits).isEmpty();
    }

    @Test
    void shouldTellWhatTheServerDoesNotLike() {
        // when
        ToolException missing = Calls.refusal(tool("pets__get_pets_id"), Map.of("id", "404"));
        ToolException broken = Calls.refusal(tool("pets__get_pets_id"), Map.of("id", "502"));
        // then
        assertThat(missing.code()).isEqualTo("http_status");
        assertThat(missing).hasMessage("The server answered with status 404: no such pet");
        assertThat(missing.again()).isEqualTo(Again.NEVER);
        assertThat(broken.again()).isEqualTo(Again.UNCERTAIN);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{",
                "a: [",
                "swagger: '2.0'",
                "{\"openapi\":\"3.0.0\"}",
                "{\"openapi\":\"3.1.0\",\"paths\":{}}",
                "{\"openapi\":\"3.1.0\",\"paths\":{},\"servers\":[{\"url\":\"/v1\"}]}"
            })
    void shouldSayWhatIsWrongWithADocument(String text) {
        assertThatThrownBy(() -> api(List.of()).tools(text, calls)).isInstanceOf(IllegalArgumentException.class);
    }

    private OpenApi api(List<String> include) {
        return new OpenApi(
                "pets",
                "pets.yaml",
                null,
                Map.of("X-Key", "{{secret:KEY}}"),
                include,
                new ToolDefinition.Approval.Always());
    }

    private CallableTool tool(String name) {
        return api(List.of()).tools(document, calls).stream()
                .filter(tool -> tool.definition().name().equals(name))
                .findAny()
                .orElseThrow();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().toString();
            hits.add(exchange.getRequestMethod() + " " + path + " " + header(exchange, "X-Tenant") + " "
                    + header(exchange, "X-Key") + " " + header(exchange, "Idempotency-Key") + " "
                    + header(exchange, "Content-Type") + " "
                    + new String(exchange.getRequestBody().readAllBytes(), UTF_8));
            if (path.endsWith("/404")) {
                answer(exchange, 404, "text/plain", "no such pet");
            } else if (path.endsWith("/502")) {
                answer(exchange, 502, "text/plain", "broken");
            } else {
                answer(exchange, 200, "application/json", "[{\"name\":\"Rex\"}]");
            }
        }
    }

    private static String header(HttpExchange exchange, String name) {
        return String.valueOf(exchange.getRequestHeaders().getFirst(name));
    }

    private static void answer(HttpExchange exchange, int status, String type, String body) throws IOException {
        byte[] bytes = body.getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
