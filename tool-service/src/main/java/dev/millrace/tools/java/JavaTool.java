package dev.millrace.tools.java;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.victools.jsonschema.generator.SchemaBuilder;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.ForeignFailure;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A method as a tool. */
final class JavaTool implements CallableTool {

    private final Method method;
    private final Supplier<?> target;
    private final List<JavaParameter> parameters;
    private final ToolDefinition definition;
    private final boolean hasCircuit;

    /**
     * A tool of a method that has {@code @Tool}.
     *
     * @param hasCircuit whether a call that fails says something about the next one
     * @throws IllegalArgumentException if the method is none for a tool, naming it
     */
    JavaTool(Method method, Supplier<?> target, boolean hasCircuit) {
        this.method = method;
        this.target = target;
        this.hasCircuit = hasCircuit;
        try {
            if (Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers())) {
                throw new IllegalArgumentException("expected a method that is neither private nor static");
            }
            method.setAccessible(true);
            this.parameters = Arrays.stream(method.getParameters())
                    .map(JavaParameter::new)
                    .toList();
            this.definition = definition(method, parameters);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("@Tool " + nameOf(method) + ": " + e.getMessage(), e);
        }
    }

    private static ToolDefinition definition(Method method, List<JavaParameter> parameters) {
        JavaDeclaration said = JavaDeclaration.of(method);
        return new ToolDefinition(
                said.name(),
                said.description(),
                JavaTools.MAPPER.convertValue(schema(parameters), new TypeReference<>() {}),
                Topics.BUILT_IN_TOOLSET,
                said.timeoutMs(),
                said.sideEffects(),
                said.approval(),
                said.approvalExpiryMs(),
                ToolDefinition.OnExpiry.REJECT,
                said.retry());
    }

    private static ObjectNode schema(List<JavaParameter> parameters) {
        SchemaBuilder builder = JavaTools.SCHEMAS.builder();
        Map<JavaParameter, ObjectNode> types = new LinkedHashMap<>();
        parameters.stream()
                .filter(parameter -> !parameter.isContext())
                .forEach(parameter -> types.put(parameter, parameter.type(builder)));
        // references are settled only here
        ObjectNode definitions = JavaSchemas.described(builder.collectDefinitions("$defs"));
        ObjectNode schema = JavaTools.MAPPER.createObjectNode().put("type", "object");
        ObjectNode properties = schema.putObject("properties");
        ArrayNode required = schema.putArray("required");
        types.forEach((parameter, type) -> {
            properties.set(parameter.name(), parameter.schema(type));
            if (parameter.isRequired()) {
                required.add(parameter.name());
            }
        });
        schema.put("additionalProperties", false);
        return definitions.isEmpty() ? schema : schema.set("$defs", definitions);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public @Nullable String circuit() {
        return hasCircuit ? definition.name() : null;
    }

    @Override
    public String origin() {
        return nameOf(method);
    }

    @Override
    public @Nullable Object call(JsonObject params, ToolContext context) throws ToolException, InterruptedException {
        @Nullable Object[] arguments = new Object[parameters.size()];
        try {
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = parameters.get(i).value(params, context);
            }
        } catch (IllegalArgumentException e) {
            throw new ToolException("invalid_arguments", "VALIDATION ERROR: " + firstLine(e));
        }
        try {
            Object result = method.invoke(target.get(), arguments);
            if (result instanceof CompletionStage<?> stage) {
                result = stage.toCompletableFuture().get();
            }
            return asJson(result);
        } catch (InvocationTargetException | ExecutionException e) {
            throw failure(e.getCause() == null ? e : e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("a tool's method became inaccessible", e);
        }
    }

    private @Nullable Object asJson(@Nullable Object result) {
        if (method.getReturnType() == void.class || method.getReturnType() == Void.class) {
            return "done";
        }
        return result instanceof String ? result : JavaTools.MAPPER.convertValue(result, Object.class);
    }

    private static ToolException failure(Throwable cause) throws InterruptedException {
        if (cause instanceof InterruptedException interrupted) {
            throw interrupted;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        if (cause instanceof ToolException no) {
            // a code that is none of ours is of somebody else's tool
            return no.again() == ToolException.Again.NEVER
                            && ErrorCode.of(no.code()).isEmpty()
                    ? ForeignFailure.of(no.code(), String.valueOf(no.getMessage()))
                    : no;
        }
        ToolException failure = new ToolException(
                "execution_error",
                "EXECUTION ERROR: "
                        + (cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage()));
        failure.initCause(cause);
        return failure;
    }

    private static String firstLine(Throwable e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    private static String nameOf(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName();
    }
}
