package dev.millrace.tool.api;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that agents may call. It is neither private nor static, in a public class with a public constructor without
 * parameters. One object is made of the class, and several threads call it at the same time.
 *
 * <p>Arguments are checked against the schema of the parameters before the method is called. What it returns is the
 * result, as JSON; of {@code void} it is {@code "done"}, of a {@code CompletionStage} what that completes with. A
 * {@link ToolException} is the tool's "no"; any other exception is a failed call with code {@code execution_error},
 * whose message the model reads.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Tool {

    /** What the tool does, for the model. */
    String value();

    /** The name, unique in an installation: 1 to 64 letters, digits, {@code _} or {@code -}. Empty = the method's. */
    String name() default "";

    /** What a call does to the world. It decides whether a call is made again of which nobody knows how it ended. */
    SideEffects sideEffects() default SideEffects.DESTRUCTIVE;

    /** How long one call may take, in milliseconds, 1 or more; the thread is interrupted then. */
    long timeoutMs() default 30_000;

    /**
     * Whether a person has to agree before a call runs: {@code never}, {@code always}, or {@code when:} and a condition
     * on the arguments in CEL, such as {@code when: args.amount > 100}. An agent's own rule for the tool and the
     * operator's go before it, so a limit that must hold belongs into the method as well.
     */
    String approval() default "never";

    /** How long the person has, in milliseconds; 0 = as long as the installation says. Then the call is rejected. */
    long approvalExpiryMs() default 0;

    /** How often one call is tried that fails for a passing reason, 1 to 20; 0 = as often as the installation says. */
    int maxAttempts() default 0;
}
