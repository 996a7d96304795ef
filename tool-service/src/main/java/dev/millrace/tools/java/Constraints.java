package dev.millrace.tools.java;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What Jakarta Validation says about a parameter, as keywords of its schema. The generator reads it of fields only. */
final class Constraints {

    private static final Map<String, String> SIZES =
            Map.of("string", "Length", "array", "Items", "object", "Properties");

    private Constraints() {}

    /** Adds what a type's annotations say, those of its type arguments included. */
    static void add(AnnotatedType type, Map<String, @Nullable Object> schema) {
        if (type instanceof AnnotatedParameterizedType generic) {
            AnnotatedType[] arguments = generic.getAnnotatedActualTypeArguments();
            AnnotatedType content = arguments[arguments.length - 1];
            if (((ParameterizedType) generic.getType()).getRawType() == Optional.class) {
                add(content, schema);
            } else {
                add(content, schema.get("items"));
                add(content, schema.get("additionalProperties"));
            }
        }
        for (Annotation said : type.getAnnotations()) {
            switch (said) {
                case Size size -> size(size, schema);
                case Min least -> schema.put("minimum", least.value());
                case Max most -> schema.put("maximum", most.value());
                case Pattern pattern -> schema.put("pattern", pattern.regexp());
                default -> {
                    // says nothing that a schema could
                }
            }
        }
    }

    private static void size(Size size, Map<String, @Nullable Object> schema) {
        String counted = SIZES.get(String.valueOf(schema.get("type")));
        if (counted != null && size.min() > 0) {
            schema.put("min" + counted, size.min());
        }
        if (counted != null && size.max() < Integer.MAX_VALUE) {
            schema.put("max" + counted, size.max());
        }
    }

    @SuppressWarnings("unchecked") // the names of an object's fields are texts
    private static void add(AnnotatedType content, @Nullable Object schema) {
        if (schema instanceof Map<?, ?> object) {
            add(content, (Map<String, @Nullable Object>) object);
        }
    }
}
