package dev.millrace.tools.java;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.millrace.tools.CallableTool;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Makes tools of methods. */
public final class JavaTools {

    static final ObjectMapper MAPPER = JsonMapper.builder()
            .addModule(new Jdk8Module())
            .addModule(new JavaTimeModule())
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
            .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    static final JavaSchemas SCHEMAS = new JavaSchemas(MAPPER);

    private JavaTools() {}

    /** Whether a class has a method for a tool. */
    public static boolean has(Class<?> type) {
        return Arrays.stream(type.getMethods()).anyMatch(JavaTools::isTool)
                || Arrays.stream(type.getDeclaredMethods()).anyMatch(JavaTools::isTool);
    }

    /**
     * The tools of a class, by name: its methods with {@code @Tool}, its own and those that it inherits from public
     * ones.
     *
     * @param target gives the object whose methods are called; asked at each call
     * @throws IllegalArgumentException if a method is none for a tool, naming it
     */
    public static List<CallableTool> of(Class<?> type, Supplier<?> target) {
        return of(type, target, true);
    }

    /** The tools of this very object. */
    public static List<CallableTool> of(Object target) {
        return of(target.getClass(), () -> target);
    }

    /**
     * The same of tools each call of which may go somewhere else, so that one that fails says nothing about the next.
     */
    public static List<CallableTool> withoutCircuit(Object target) {
        return of(target.getClass(), () -> target, false);
    }

    private static List<CallableTool> of(Class<?> type, Supplier<?> target, boolean hasCircuit) {
        return Stream.concat(Arrays.stream(type.getDeclaredMethods()), Arrays.stream(type.getMethods()))
                .distinct()
                .filter(JavaTools::isTool)
                .sorted(Comparator.comparing(Method::getName))
                .<CallableTool>map(method -> new JavaTool(method, target, hasCircuit))
                .toList();
    }

    private static boolean isTool(Method method) {
        return JavaDeclaration.isTool(method) && !method.isBridge() && !method.isSynthetic();
    }
}
