package dev.millrace.tool.api;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A parameter of a tool's method. One without it is required, and has the name that the class file says. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.PARAMETER)
public @interface Param {

    /** What {@link #defaultValue} is if there is none. */
    String NONE = "\0none";

    /** What it means, for the model. */
    String value() default "";

    /** The name. Empty = the parameter's own, for which the class has to be compiled with {@code -parameters}. */
    String name() default "";

    /** Whether the model has to give it. A parameter of type {@code Optional} and one with a default never are. */
    boolean required() default true;

    /** What the method gets if the model gives nothing, as JSON; of a text, the text itself. */
    String defaultValue() default NONE;
}
