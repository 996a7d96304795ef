package dev.millrace.tools.java;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Of which JSON types a parameter may be whose Java type says nothing, such as {@code Object}. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.PARAMETER)
public @interface JsonTypes {

    /** The words of JSON Schema. */
    String[] value();
}
