package dev.millrace.schemas;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A tool as the {@code definitions} topic carries it (key {@code tool/<name>}): what the model is told, and where its
 * calls go. In JSON only name, description and toolset must be there; the rest has the defaults named below.
 *
 * @param name unique; letters, digits, {@code _} and {@code -}, 1 to 64 characters
 * @param description what the tool does, for the model
 * @param parameters JSON Schema (draft 2020-12) of the arguments, an object schema; absent in JSON = no arguments.
 *     Copied, so that it cannot change
 * @param toolset whose request topic gets the calls, see {@link Topics#requests}; letters, digits, {@code .}, {@code _}
 *     and {@code -}, 1 to 64 characters
 * @param timeoutMs how long one execution may take, in milliseconds, 1 or more; absent in JSON =
 *     {@value #DEFAULT_TIMEOUT_MS}
 * @param sideEffects what a call does to the world; absent in JSON = the worst
 * @param approval whether a person has to agree before a call runs; absent in JSON = never
 * @param approvalExpiryMs how long the person has, in milliseconds, 1 or more; absent = the installation's default
 * @param onExpiry what becomes of a call that nobody decided on in time; absent in JSON = it is rejected
 * @param retry how often a worker tries again what failed for a passing reason; absent = as the worker is set up
 * @param processes which events it is given before anything else is done with them, which makes it a processor and no
 *     tool for models; absent = none, which makes it a tool
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ToolDefinition(
        String name,
        String description,
        JsonObject parameters,
        String toolset,
        long timeoutMs,
        SideEffects sideEffects,
        Approval approval,
        @Nullable Long approvalExpiryMs,
        OnExpiry onExpiry,
        @Nullable Retry retry,
        @Nullable Processes processes) {

    /** The time-out of a tool that states none, in milliseconds. */
    public static final long DEFAULT_TIMEOUT_MS = 30_000;

    /** What a call does to the world, in the words of MCP's tool annotations. */
    public enum SideEffects {
        /** Changes nothing. */
        READ_ONLY,
        /** Changes something, and a second equal call changes nothing more. */
        IDEMPOTENT,
        /** Each call may change or destroy something. */
        DESTRUCTIVE
    }

    /** Whether a person has to agree before a call runs. */
    public sealed interface Approval {

        /** Nobody is asked. */
        record Never() implements Approval {}

        /** Every call is asked for. */
        record Always() implements Approval {}

        /**
         * A call is asked for if its arguments say so.
         *
         * @param expression a condition on the arguments; not blank, at most {@value #MAX_EXPRESSION_LENGTH} characters
         */
        record When(String expression) implements Approval {
            /** The longest condition, in characters. */
            public static final int MAX_EXPRESSION_LENGTH = 1_000;

            public When {
                if (expression.isBlank() || expression.length() > MAX_EXPRESSION_LENGTH) {
                    throw new IllegalArgumentException("approval.when: expected 1 to " + MAX_EXPRESSION_LENGTH
                            + " characters, found " + expression.length());
                }
            }
        }

        /** As in JSON: {@code "never"}, {@code "always"} or {@code {"when": expression}}. */
        @JsonValue
        default Object json() {
            return switch (this) {
                case Never never -> "never";
                case Always always -> "always";
                case When(String expression) -> Map.of("when", expression);
            };
        }

        /**
         * Reads what {@link #json} wrote.
         *
         * @throws IllegalArgumentException if it is anything else
         */
        @JsonCreator
        static Approval of(Object json) {
            return switch (json) {
                case String text when text.equals("never") -> new Never();
                case String text when text.equals("always") -> new Always();
                case Map<?, ?> map
                when map.size() == 1 && map.get("when") instanceof String expression -> new When(expression);
                default ->
                    throw new IllegalArgumentException(
                            "approval: expected \"never\", \"always\" or {\"when\": expression}, found "
                                    + Json.writeText(json));
            };
        }
    }

    /** What becomes of a call that nobody decided on in time. */
    public enum OnExpiry {
        /** It does not run; the model is told. */
        @JsonProperty("reject")
        REJECT,
        /** It runs as it stands. */
        @JsonProperty("approve")
        APPROVE
    }

    /**
     * How often a worker tries again what failed for a passing reason, inside the call's time-out.
     *
     * @param maxAttempts executions in all, 1 to {@value #MAX_ATTEMPTS}; 1 = no second one
     * @param initialDelayMs the pause after the first failure, in milliseconds, 0 or more; it grows from one to the
     *     next
     */
    public record Retry(int maxAttempts, long initialDelayMs) {
        /** More is a loop. */
        public static final int MAX_ATTEMPTS = 20;

        public Retry {
            if (maxAttempts < 1 || maxAttempts > MAX_ATTEMPTS) {
                throw new IllegalArgumentException(
                        "retry.maxAttempts: expected 1 to " + MAX_ATTEMPTS + ", found " + maxAttempts);
            }
            if (initialDelayMs < 0) {
                throw new IllegalArgumentException("retry.initialDelayMs: expected 0 or more, found " + initialDelayMs);
            }
        }

        @JsonCreator
        static Retry ofJson(
                @JsonProperty("maxAttempts") @Nullable Integer maxAttempts,
                @JsonProperty("initialDelayMs") @Nullable Long initialDelayMs) {
            if (maxAttempts == null) {
                throw new IllegalArgumentException("retry.maxAttempts: expected a number, found none");
            }
            return new Retry(maxAttempts, initialDelayMs == null ? DEFAULT_RETRY_DELAY_MS : initialDelayMs);
        }
    }

    /**
     * Which events a processor is given. It answers a call, whose one argument is {@code event}, with {@code
     * {"producedEvents": […]}}: with events, it has replaced what would have been done with this one; with none, it
     * lets that happen.
     *
     * @param types names of types that start tasks or are open ones; {@code *} = all of these. 1 to
     *     {@value #MAX_TYPES}, copied
     * @param order who is asked first: the lower one, then by name; those for {@code *} come before all others. Absent
     *     in JSON = 0
     * @param required whether an event goes no further if this fails or is silent; else it does, as if this had not
     *     been there. Absent in JSON = false
     */
    public record Processes(List<String> types, int order, boolean required) {
        /** So many types at most. */
        public static final int MAX_TYPES = 32;
        /** Any type. */
        public static final String ANY = "*";

        public Processes {
            types = List.copyOf(types);
            if (types.isEmpty() || types.size() > MAX_TYPES) {
                throw new IllegalArgumentException(
                        "processes.types: expected 1 to " + MAX_TYPES + " types, found " + types.size());
            }
            for (String type : types) {
                if (!type.equals(ANY) && !mayBeProcessed(EventType.of(type))) {
                    throw new IllegalArgumentException("processes.types: expected \"*\", a type that starts tasks "
                            + "(MESSAGE_RECEIVED, WEBHOOK_TRIGGERED, SCHEDULE_FIRED) or an open one, found \"" + type
                            + "\"");
                }
            }
        }

        @JsonCreator
        static Processes ofJson(
                @JsonProperty("types") @Nullable List<String> types,
                @JsonProperty("order") @Nullable Integer order,
                @JsonProperty("required") @Nullable Boolean required) {
            return new Processes(
                    types == null ? List.of() : types, order == null ? 0 : order, Boolean.TRUE.equals(required));
        }

        /** Whether processors may be given events of a type: those that come from outside and start something. */
        public static boolean mayBeProcessed(EventType type) {
            return type.isOpen()
                    || type == KnownEventType.MESSAGE_RECEIVED
                    || type == KnownEventType.WEBHOOK_TRIGGERED
                    || type == KnownEventType.SCHEDULE_FIRED;
        }

        /** Whether it is for all types. */
        @JsonIgnore
        public boolean ofAny() {
            return types.contains(ANY);
        }

        /** Whether it is for this type, by whichever of its names. */
        public boolean of(EventType type) {
            return mayBeProcessed(type)
                    && types.stream()
                            .anyMatch(name -> name.equals(ANY)
                                    || EventType.of(name).wireName().equals(type.wireName()));
        }
    }

    /** The pause before a second attempt of a tool that states none, in milliseconds. */
    public static final long DEFAULT_RETRY_DELAY_MS = 1_000;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Pattern TOOLSET = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final JsonObject NO_PARAMETERS = JsonObject.of(Map.of("type", "object"));

    public ToolDefinition {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "tool name: expected 1 to 64 letters, digits, '_' or '-', found \"" + name + "\"");
        }
        if (!TOOLSET.matcher(toolset).matches()) {
            throw new IllegalArgumentException("toolset of " + name
                    + ": expected 1 to 64 letters, digits, '.', '_' or '-', found \"" + toolset + "\"");
        }
        if (timeoutMs < 1) {
            throw new IllegalArgumentException("timeoutMs of " + name + ": expected 1 or more, found " + timeoutMs);
        }
        if (approvalExpiryMs != null && approvalExpiryMs < 1) {
            throw new IllegalArgumentException(
                    "approvalExpiryMs of " + name + ": expected 1 or more, found " + approvalExpiryMs);
        }
    }

    /** A tool for models. */
    public ToolDefinition(
            String name,
            String description,
            JsonObject parameters,
            String toolset,
            long timeoutMs,
            SideEffects sideEffects,
            Approval approval,
            @Nullable Long approvalExpiryMs,
            OnExpiry onExpiry,
            @Nullable Retry retry) {
        this(
                name,
                description,
                parameters,
                toolset,
                timeoutMs,
                sideEffects,
                approval,
                approvalExpiryMs,
                onExpiry,
                retry,
                null);
    }

    /** A tool that nobody is asked about, with the worker's own way to try again. */
    public ToolDefinition(
            String name,
            String description,
            JsonObject parameters,
            String toolset,
            long timeoutMs,
            SideEffects sideEffects) {
        this(
                name,
                description,
                parameters,
                toolset,
                timeoutMs,
                sideEffects,
                new Approval.Never(),
                null,
                OnExpiry.REJECT,
                null);
    }

    /** The same with this policy, and as much time and the same end as before. */
    public ToolDefinition withApproval(Approval newApproval) {
        return new ToolDefinition(
                name,
                description,
                parameters,
                toolset,
                timeoutMs,
                sideEffects,
                newApproval,
                approvalExpiryMs,
                onExpiry,
                retry,
                processes);
    }

    /** The same with this way to try again. */
    public ToolDefinition withRetry(@Nullable Retry newRetry) {
        return new ToolDefinition(
                name,
                description,
                parameters,
                toolset,
                timeoutMs,
                sideEffects,
                approval,
                approvalExpiryMs,
                onExpiry,
                newRetry,
                processes);
    }

    /** The same as a processor of these events. */
    public ToolDefinition withProcesses(Processes events) {
        return new ToolDefinition(
                name,
                description,
                parameters,
                toolset,
                timeoutMs,
                sideEffects,
                approval,
                approvalExpiryMs,
                onExpiry,
                retry,
                events);
    }

    @JsonCreator
    static ToolDefinition ofJson(
            @JsonProperty("name") @Nullable String name,
            @JsonProperty("description") @Nullable String description,
            @JsonProperty("parameters") @Nullable JsonObject parameters,
            @JsonProperty("toolset") @Nullable String toolset,
            @JsonProperty("timeoutMs") @Nullable Long timeoutMs,
            @JsonProperty("sideEffects") @Nullable SideEffects sideEffects,
            @JsonProperty("approval") @Nullable Approval approval,
            @JsonProperty("approvalExpiryMs") @Nullable Long approvalExpiryMs,
            @JsonProperty("onExpiry") @Nullable OnExpiry onExpiry,
            @JsonProperty("retry") @Nullable Retry retry,
            @JsonProperty("processes") @Nullable Processes processes) {
        return new ToolDefinition(
                required("name", name),
                required("description", description),
                parameters == null ? NO_PARAMETERS : parameters,
                required("toolset", toolset),
                timeoutMs == null ? DEFAULT_TIMEOUT_MS : timeoutMs,
                sideEffects == null ? SideEffects.DESTRUCTIVE : sideEffects,
                approval == null ? new Approval.Never() : approval,
                approvalExpiryMs,
                onExpiry == null ? OnExpiry.REJECT : onExpiry,
                retry,
                processes);
    }

    /** The record key on the {@code definitions} topic. */
    public static String key(String toolName) {
        return "tool/" + toolName;
    }

    /** This definition as the value of a record. */
    public byte[] toJson() {
        return Json.write(this);
    }

    /**
     * Reads a record's value.
     *
     * @throws MalformedEventException with code {@code bad_definition} if it is no tool definition
     */
    public static ToolDefinition fromJson(byte[] value) throws MalformedEventException {
        try {
            ToolDefinition definition = Json.MAPPER.readValue(value, ToolDefinition.class);
            if (definition == null) {
                throw new MalformedEventException("bad_definition", "expected a tool definition, found null");
            }
            return definition;
        } catch (ValueInstantiationException e) {
            Throwable refused = e.getCause();
            throw new MalformedEventException(
                    "bad_definition",
                    "expected a tool definition: " + (refused == null ? e.getOriginalMessage() : refused.getMessage()));
        } catch (JsonProcessingException e) {
            throw new MalformedEventException(
                    "bad_definition", "expected a tool definition: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new MalformedEventException("bad_definition", "expected a tool definition: " + e.getMessage());
        }
    }

    private static String required(String field, @Nullable String value) {
        if (value == null) {
            throw new IllegalArgumentException(field + ": expected a text, found none");
        }
        return value;
    }
}
