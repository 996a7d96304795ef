package dev.millrace.tools.java;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.victools.jsonschema.generator.SchemaBuilder;
import dev.langchain4j.agent.tool.ToolMemoryId;
import dev.millrace.schemas.JsonObject;
import dev.millrace.tool.api.ToolContext;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One parameter of a tool's method: how it is described to the model, and how it is filled. */
final class JavaParameter {

    private final Parameter parameter;
    private final String name;
    private final JavaType type;
    private final @Nullable String description;
    private final boolean required;
    private final @Nullable Object otherwise;
    private final boolean isContext;

    /**
     * Reads the declaration.
     *
     * @throws IllegalArgumentException if nothing can be made of it
     */
    JavaParameter(Parameter parameter) {
        this.parameter = parameter;
        this.type = JavaTools.MAPPER.constructType(parameter.getParameterizedType());
        this.isContext = type.getRawClass() == ToolContext.class;
        if (parameter.isAnnotationPresent(ToolMemoryId.class)) {
            throw new IllegalArgumentException(
                    "@ToolMemoryId: expected a parameter of type ToolContext, which has the session");
        }
        JavaDeclaration.OfParameter said = JavaDeclaration.OfParameter.of(parameter);
        this.name = name(parameter, said.name(), isContext);
        this.description = said.description();
        String written = said.otherwise();
        this.required = written == null && said.required() && !Optional.class.equals(type.getRawClass());
        this.otherwise = written == null ? null : parsed(written);
        if (!required && otherwise == null && type.isPrimitive()) {
            throw new IllegalArgumentException("parameter " + name + ": expected one that can be absent, found a "
                    + type.getRawClass() + "; use its wrapper or a default");
        }
    }

    private static String name(Parameter parameter, @Nullable String said, boolean isContext) {
        if (said != null) {
            return said;
        }
        if (!parameter.isNamePresent() && !isContext) {
            throw new IllegalArgumentException("expected the names of the parameters, found none in the class file;"
                    + " compile with -parameters, or say @Param(name = …)");
        }
        return parameter.getName();
    }

    /** A default is JSON, or else a text. */
    private Object parsed(String text) {
        try {
            if (!CharSequence.class.isAssignableFrom(type.getRawClass())) {
                return JavaTools.MAPPER.readValue(text, Object.class);
            }
        } catch (JsonProcessingException e) {
            // such as the name of an enum's constant
            return text;
        }
        return text;
    }

    /** Whether the model knows nothing of it. */
    boolean isContext() {
        return isContext;
    }

    String name() {
        return name;
    }

    boolean isRequired() {
        return required;
    }

    /** What the builder makes of the type, not settled before its definitions are collected. */
    ObjectNode type(SchemaBuilder schemas) {
        try {
            return schemas.createSchemaReference(
                    parameter.getParameterizedType() instanceof ParameterizedType generic
                                    && generic.getRawType() == Optional.class
                            ? generic.getActualTypeArguments()[0]
                            : parameter.getParameterizedType());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("parameter " + name + ": " + e.getMessage(), e);
        }
    }

    /** The whole schema, of what the builder made of the type. */
    ObjectNode schema(ObjectNode settled) {
        ObjectNode schema = JavaSchemas.described(settled);
        Constraints.add(parameter.getAnnotatedType(), schema);
        JsonTypes types = parameter.getAnnotation(JsonTypes.class);
        if (types != null) {
            schema.putPOJO("type", types.value());
        }
        if (description != null) {
            schema.put("description", description);
        }
        if (otherwise != null) {
            schema.putPOJO("default", otherwise);
        }
        return schema;
    }

    /**
     * What the method gets.
     *
     * @throws IllegalArgumentException if the value is none of this type
     */
    @Nullable
    Object value(JsonObject params, ToolContext context) {
        if (isContext) {
            return context;
        }
        Object given = params.containsKey(name) ? params.get(name) : otherwise;
        if (given == null && Optional.class.equals(type.getRawClass())) {
            return Optional.empty();
        }
        return JavaTools.MAPPER.convertValue(given, type);
    }
}
