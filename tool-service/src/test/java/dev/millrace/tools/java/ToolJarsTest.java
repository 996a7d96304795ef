package dev.millrace.tools.java;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallContext;
import dev.millrace.tools.CallableTool;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class ToolJarsTest {

    private static final String GREETER = """
        package org.example;
        import dev.langchain4j.agent.tool.Tool;
        import dev.millrace.tool.api.ToolContext;
        public class Greeter {
            @Tool("Greets.")
            public String greet(String name, ToolContext context) {
                return "Hello " + name + ", says " + context.callId();
            }
        }
        """;

    /** The same as the author of a tool writes it today. */
    private static final String TELLER = """
        package org.example;
        import dev.millrace.tool.api.Tool;
        import dev.millrace.tool.api.ToolContext;
        public class Teller {
            @Tool("Tells.")
            public String tell(String name, ToolContext context) {
                return "Hello " + name + ", says " + context.idempotencyKey();
            }
        }
        """;

    private static final String GATE = """
        package org.example;
        import dev.millrace.tool.api.*;
        import java.util.*;
        public class Gate implements EventProcessor {
            public String name() { return "gate"; }
            public List<String> eventTypes() { return List.of("MESSAGE_RECEIVED"); }
            public boolean required() { return true; }
            public boolean shouldProcess(IncomingEvent event, ToolContext context) {
                return event.metadata().containsKey("needsApproval");
            }
            public List<ProducedEvent> process(IncomingEvent event, ToolContext context) {
                if (event.payload().containsKey("broken")) throw new IllegalStateException("broken");
                return List.of(new ProducedEvent("order.held", Map.of("id", event.id())));
            }
        }
        """;

    @TempDir
    Path folder;

    @Test
    @DisplayName("F-277: a class that is a processor of events, called only about those that it wants")
    void shouldFindProcessors() throws Exception {
        // given
        Path jar = jar("gate", "Gate", GATE);
        try (ToolJars jars = new ToolJars(List.of(jar))) {
            CallableTool gate = jars.tools().getFirst();
            CallContext context = new CallContext("t", null, "default", "call-1");

            // when
            Object wanted = gate.call(event(Map.of("metadata", Map.of("needsApproval", true))), context);
            Object other = gate.call(event(Map.of("text", "hello")), context);

            // then
            assertThat(gate.definition().name()).isEqualTo("gate");
            assertThat(gate.definition().processes())
                    .isEqualTo(new ToolDefinition.Processes(List.of("MESSAGE_RECEIVED"), 0, true));
            assertThat(wanted)
                    .isEqualTo(Map.of(
                            "producedEvents", List.of(Map.of("type", "order.held", "payload", Map.of("id", "e1")))));
            assertThat(other).isEqualTo(Map.of("producedEvents", List.of()));
            assertThatThrownBy(() -> gate.call(
                            event(Map.of("metadata", Map.of("needsApproval", true), "broken", true)), context))
                    .isInstanceOf(ToolException.class)
                    .hasMessageContaining("broken");
        }
    }

    private static JsonObject event(Map<String, Object> payload) {
        return JsonObject.of(Map.of("event", Map.of("id", "e1", "type", "MESSAGE_RECEIVED", "payload", payload)));
    }

    @Test
    @DisplayName("tools in the words of the tool API, also if its types were packed into the jar")
    void shouldFindTheToolsOfTheApi() throws Exception {
        // given
        Path jar = jar("teller", "Teller", TELLER);
        Path fat =
                jar("fat", "Teller", TELLER, dev.millrace.tool.api.Tool.class, dev.millrace.tool.api.ToolContext.class);
        for (Path each : List.of(jar, fat)) {
            // when
            try (ToolJars jars = new ToolJars(List.of(each))) {
                // then
                CallableTool tell = jars.tools().getFirst();
                assertThat(tell.definition().name()).isEqualTo("tell");
                assertThat(tell.call(
                                JsonObject.of(Map.of("name", "Ada")), new CallContext("t", null, "default", "call-1")))
                        .isEqualTo("Hello Ada, says call-1");
            }
        }
    }

    @Test
    void shouldFindTheToolsOfAJar() throws Exception {
        // given
        Path jar = jar("greeter", "Greeter", GREETER);
        Files.writeString(folder.resolve("readme.txt"), "not a jar");
        // when
        try (ToolJars byFile = new ToolJars(List.of(jar));
                ToolJars byFolder = new ToolJars(List.of(folder))) {
            // then
            assertThat(byFolder.tools()).hasSize(1);
            CallableTool greet = byFile.tools().getFirst();
            assertThat(greet.definition().name()).isEqualTo("greet");
            assertThat(greet.origin()).isEqualTo("org.example.Greeter.greet");
            assertThat(greet.call(
                            JsonObject.of(Map.of("name", "Ada")), new CallContext("t", null, "default", "call-1")))
                    .isEqualTo("Hello Ada, says call-1");
        }
    }

    @Test
    void shouldSayWhatIsWrongWithAJar() throws Exception {
        // given
        Path none = folder.resolve("none.jar");
        Path shy = jar("shy", "Greeter", GREETER.replace("class Greeter {", "class Greeter { private Greeter() {}"));
        Path cross = jar(
                "cross",
                "Greeter",
                GREETER.replace(
                        "class Greeter {", "class Greeter { public Greeter() { throw new RuntimeException(\"no\"); }"));
        // then
        assertThatThrownBy(() -> new ToolJars(List.of(none)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("millrace.tools.java.jars: expected a jar or a folder with jars, found " + none);
        assertThatThrownBy(() -> new ToolJars(List.of(shy)))
                .hasMessageContaining("expected a public constructor without parameters in org.example.Greeter");
        assertThatThrownBy(() -> new ToolJars(List.of(cross)))
                .hasMessageContaining("the constructor of org.example.Greeter failed: java.lang.RuntimeException: no");
    }

    private Path jar(String name, String className, String source, Class<?>... packed) throws IOException {
        Path sources = Files.createDirectories(folder.resolve(name + "-build"));
        Path file = Files.writeString(sources.resolve(className + ".java"), source);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        int result = compiler.run(
                null,
                null,
                null,
                "-parameters",
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                sources.toString(),
                file.toString());
        assertThat(result).isZero();
        Path jar = folder.resolve(name + ".jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(sources)) {
            for (Path each :
                    files.filter(path -> path.toString().endsWith(".class")).toList()) {
                out.putNextEntry(
                        new JarEntry(sources.relativize(each).toString().replace('\\', '/')));
                out.write(Files.readAllBytes(each));
            }
            for (Class<?> type : packed) {
                String entry = type.getName().replace('.', '/') + ".class";
                out.putNextEntry(new JarEntry(entry));
                try (InputStream in = Objects.requireNonNull(
                        Objects.requireNonNull(type.getClassLoader()).getResourceAsStream(entry))) {
                    in.transferTo(out);
                }
            }
        }
        return jar;
    }
}
