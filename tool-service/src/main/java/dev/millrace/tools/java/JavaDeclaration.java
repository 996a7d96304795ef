package dev.millrace.tools.java;

import dev.langchain4j.agent.tool.P;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.Approval;
import dev.millrace.schemas.ToolDefinition.Retry;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.Tool;
import dev.millrace.tools.ToolPolicies;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import org.jspecify.annotations.Nullable;

/**
 * What a method says about itself as a tool: in the words of {@code dev.millrace.tool.api}, or in LangChain4j's with
 * {@link ToolTerms} for what these cannot say.
 *
 * @param name as it says, or the method's own
 * @param approvalExpiryMs {@code null} = the installation's
 * @param retry {@code null} = the installation's
 */
record JavaDeclaration(
        String name,
        String description,
        long timeoutMs,
        SideEffects sideEffects,
        Approval approval,
        @Nullable Long approvalExpiryMs,
        @Nullable Retry retry) {

    /** Whether it says that it is a tool. */
    static boolean isTool(Method method) {
        return method.isAnnotationPresent(Tool.class)
                || method.isAnnotationPresent(dev.langchain4j.agent.tool.Tool.class);
    }

    /**
     * Reads it.
     *
     * @throws IllegalArgumentException if it contradicts itself, or says what cannot be
     */
    static JavaDeclaration of(Method method) {
        Tool ours = method.getAnnotation(Tool.class);
        return ours == null ? ofLangChain4j(method) : of(method, ours);
    }

    private static JavaDeclaration of(Method method, Tool said) {
        // who wrote approval = true there must not be passed over in silence
        if (method.isAnnotationPresent(ToolTerms.class)
                || method.isAnnotationPresent(dev.langchain4j.agent.tool.Tool.class)) {
            throw new IllegalArgumentException("expected " + Tool.class.getName()
                    + " alone, which says everything; found LangChain4j's @Tool or @ToolTerms beside it");
        }
        if (said.approvalExpiryMs() < 0) {
            throw new IllegalArgumentException(
                    "approvalExpiryMs: expected 0 or more, found " + said.approvalExpiryMs());
        }
        return new JavaDeclaration(
                name(said.name(), method),
                said.value().isBlank() ? name(said.name(), method) : said.value(),
                said.timeoutMs(),
                SideEffects.valueOf(said.sideEffects().name()),
                ToolPolicies.approval(said.approval()),
                said.approvalExpiryMs() == 0 ? null : said.approvalExpiryMs(),
                said.maxAttempts() == 0 ? null : new Retry(said.maxAttempts(), ToolDefinition.DEFAULT_RETRY_DELAY_MS));
    }

    private static JavaDeclaration ofLangChain4j(Method method) {
        dev.langchain4j.agent.tool.Tool said = method.getAnnotation(dev.langchain4j.agent.tool.Tool.class);
        String name = name(said == null ? "" : said.name(), method);
        String description = said == null ? "" : String.join("\n", said.value());
        ToolTerms terms = method.getAnnotation(ToolTerms.class);
        return new JavaDeclaration(
                name,
                description.isBlank() ? name : description,
                terms == null ? ToolDefinition.DEFAULT_TIMEOUT_MS : terms.timeoutMs(),
                terms == null ? SideEffects.DESTRUCTIVE : terms.sideEffects(),
                terms != null && terms.approval() ? new Approval.Always() : new Approval.Never(),
                null,
                null);
    }

    private static String name(String said, Method method) {
        return said.isBlank() ? method.getName() : said;
    }

    /**
     * What is said about a parameter.
     *
     * @param name {@code null} = its own
     * @param description {@code null} = none
     * @param otherwise what it is if the model gives nothing, as it is written; {@code null} = there is no such thing
     */
    record OfParameter(
            @Nullable String name,
            @Nullable String description,
            boolean required,
            @Nullable String otherwise) {

        static OfParameter of(Parameter parameter) {
            Param ours = parameter.getAnnotation(Param.class);
            if (ours != null) {
                return new OfParameter(
                        firstText(ours.name()),
                        firstText(ours.value()),
                        ours.required(),
                        ours.defaultValue().equals(Param.NONE) ? null : ours.defaultValue());
            }
            P said = parameter.getAnnotation(P.class);
            if (said != null) {
                return new OfParameter(
                        firstText(said.name()),
                        firstText(said.description(), said.value()),
                        said.required(),
                        said.defaultValue().equals(P.NO_DEFAULT) ? null : said.defaultValue());
            }
            return new OfParameter(null, null, true, null);
        }

        private static @Nullable String firstText(String... texts) {
            for (String text : texts) {
                if (!text.isBlank()) {
                    return text;
                }
            }
            return null;
        }
    }
}
