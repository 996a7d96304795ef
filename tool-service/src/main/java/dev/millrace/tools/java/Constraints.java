package dev.millrace.tools.java;

import com.fasterxml.jackson.databind.node.ObjectNode;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What Jakarta Validation says about a parameter, as keywords of its schema. The generator reads it of fields only. */
final class Constraints {

    private static final Map<String, String> SIZES =
            Map.of("string", "Length", "array", "Items", "object", "Properties");

    private Constraints() {}

    /** Adds what a type's annotations say, those of its type arguments included. */
    static void add(AnnotatedType type, ObjectNode schema) {
        if (type instanceof AnnotatedParameterizedType generic) {
            AnnotatedType[] arguments = generic.getAnnotatedActualTypeArguments();
            AnnotatedType content = arguments[arguments.length - 1];
            if (((ParameterizedType) generic.getType()).getRawType() == Optional.class) {
                add(content, schema);
            } else {
                for (String keyword : List.of("items", "additionalProperties")) {
                    if (schema.get(keyword) instanceof ObjectNode values) {
                        add(content, values);
                    }
                }
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

    private static void size(Size size, ObjectNode schema) {
        String counted = SIZES.get(schema.path("type").asText());
        if (counted != null && size.min() > 0) {
            schema.put("min" + counted, size.min());
        }
        if (counted != null && size.max() < Integer.MAX_VALUE) {
            schema.put("max" + counted, size.max());
        }
    }
}
