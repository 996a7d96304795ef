package dev.millrace.tools.java;

import dev.millrace.schemas.ToolDefinition;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What LangChain4j's {@code @Tool} cannot say about a tool. Without it a tool has the defaults that stand here. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface ToolTerms {

    /** How long one call may take, in milliseconds, 1 or more; the thread is interrupted then. */
    long timeoutMs() default ToolDefinition.DEFAULT_TIMEOUT_MS;

    /** What a call does to the world. */
    ToolDefinition.SideEffects sideEffects() default ToolDefinition.SideEffects.DESTRUCTIVE;

    /** Whether a person has to agree before each call. */
    boolean approval() default false;
}
