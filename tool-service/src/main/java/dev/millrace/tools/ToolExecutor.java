package dev.millrace.tools;

import dev.millrace.requests.Reply;
import dev.millrace.requests.Request;
import dev.millrace.requests.RequestHandler;
import dev.millrace.schemas.Backoff;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ToolArguments;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.content.LargeResults;
import dev.millrace.tools.secrets.Secrets;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Carries out tool calls. Whatever goes wrong becomes a {@link Reply.Failed} in words that a model understands;
 * nothing but an interrupt leaves it as an exception.
 */
public final class ToolExecutor implements RequestHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(ToolExecutor.class);

    /** The longest error that a model is told, in characters; of a longer one the beginning is passed on. */
    public static final int MAX_ERROR = 10_000;

    /** What the check of a call's arguments may cost, in keywords of the schema looked at: about a second. */
    private static final long MAX_STEPS = 5_000_000;

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(20);

    private final ToolRegistry registry;
    private final CallGuards guards;
    private final LargeResults results;
    private final Secrets secrets;
    private final MeterRegistry meters;
    private final Map<String, ToolArguments> arguments = new ConcurrentHashMap<>();

    public ToolExecutor(
            ToolRegistry registry, CallGuards guards, LargeResults results, Secrets secrets, MeterRegistry meters) {
        this.registry = registry;
        this.guards = guards;
        this.results = results;
        this.secrets = secrets;
        this.meters = meters;
    }

    /** How one attempt went. */
    private sealed interface Outcome {
        record Done(@Nullable Object result) implements Outcome {}

        record Failed(
                String code,
                String error,
                ToolException.Again again,
                @Nullable Duration retryAfter) implements Outcome {
            static Failed forGood(String code, String error) {
                return new Failed(code, error, ToolException.Again.NEVER, null);
            }
        }
    }

    @Override
    public Reply handle(Request request) throws InterruptedException {
        long started = System.nanoTime();
        Reply reply = carryOut(request, started);
        Timer.builder("millrace.tools.calls")
                .tag("toolName", registry.find(request.toolName()).isPresent() ? request.toolName() : "unknown")
                .tag("outcome", reply instanceof Reply.Completed ? "completed" : "failed")
                .register(meters)
                .record(System.nanoTime() - started, TimeUnit.NANOSECONDS);
        return reply;
    }

    private Reply carryOut(Request request, long started) throws InterruptedException {
        Optional<CallableTool> found = registry.await(request.toolName());
        if (found.isEmpty()) {
            String suggestion = registry.similar(request.toolName())
                    .map(name -> ". Did you mean \"" + name + "\"?")
                    .orElse("");
            return failed("tool_not_found", "Tool \"" + request.toolName() + "\" not found" + suggestion, started);
        }
        CallableTool tool = found.get();
        List<String> problems = argumentsOf(tool.definition())
                .problems(request.params(), MAX_STEPS)
                .orElse(List.of("it would take too long to check these arguments against the schema"));
        if (!problems.isEmpty()) {
            return failed("invalid_arguments", "VALIDATION ERROR: " + String.join("; ", problems), started);
        }
        return run(tool, request, started);
    }

    private ToolArguments argumentsOf(ToolDefinition definition) {
        ToolArguments current = arguments.compute(
                definition.name(),
                (name, known) -> known != null && known.areOf(definition) ? known : ToolArguments.of(definition));
        return Objects.requireNonNull(current);
    }

    /** The time limit is the tool's own, or the requester's if that is shorter. */
    private static long timeoutMs(CallableTool tool, Request request) {
        long own = tool.definition().timeoutMs();
        Long wanted = request.timeoutMs();
        return wanted == null ? own : Math.min(own, wanted);
    }

    private Reply run(CallableTool tool, Request request, long started) throws InterruptedException {
        Event event = request.event();
        ToolDefinition definition = tool.definition();
        long timeoutMs = timeoutMs(tool, request);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        ToolContext context = new CallContext(
                Optional.ofNullable(event.taskId()).orElse(""),
                event.sessionId(),
                event.namespace(),
                request.callId(),
                Instant.now().plusMillis(timeoutMs));
        ToolDefinition.Retry retry = guards.policies().retry(definition);
        Backoff backoff = new Backoff(Duration.ofMillis(retry.initialDelayMs()), LONGEST_PAUSE, request.callId());
        for (int attempt = 1; true; attempt++) {
            switch (attempt(tool, request, context, timeoutMs, end)) {
                case Outcome.Done(Object result) -> {
                    return completed(request, result, context, started);
                }
                case Outcome.Failed(String code, String error, ToolException.Again again, Duration retryAfter) -> {
                    if (attempt == retry.maxAttempts()
                            || !mayTryAgain(again, definition)
                            || !backoff.pause(attempt, retryAfter, end)) {
                        return failed(code, secrets.mask(error) + attempts(attempt), started);
                    }
                    meters.counter("millrace.tools.retries", "toolName", definition.name())
                            .increment();
                }
            }
        }
    }

    private boolean mayTryAgain(ToolException.Again again, ToolDefinition definition) {
        return switch (again) {
            case NEVER -> false;
            case UNCERTAIN -> guards.policies().isRepeatable(definition);
            case PASSING -> true;
        };
    }

    private static String attempts(int attempt) {
        return attempt == 1 ? "" : " (after " + attempt + " attempts)";
    }

    private Outcome attempt(CallableTool tool, Request request, ToolContext context, long timeoutMs, long end)
            throws InterruptedException {
        CircuitBreaker circuit = guards.circuit(tool);
        Duration rest = circuit.enter();
        if (!rest.isZero()) {
            return Outcome.Failed.forGood(
                    "circuit_open",
                    "Tool \"" + request.toolName() + "\" failed again and again and is left alone for "
                            + (rest.toSeconds() + 1) + " s");
        }
        Outcome outcome = null;
        try {
            Runnable leave = guards.enter(request.toolName(), end - System.nanoTime());
            outcome = execute(new Execution(tool, request, context, leave), timeoutMs, end);
            return outcome;
        } catch (ToolException e) {
            return Outcome.Failed.forGood(e.code(), String.valueOf(e.getMessage()));
        } finally {
            tell(circuit, outcome);
        }
    }

    private static void tell(CircuitBreaker circuit, @Nullable Outcome outcome) {
        switch (outcome) {
            case null -> circuit.unknown();
            case Outcome.Done done -> circuit.worked();
            case Outcome.Failed(String code, String error, ToolException.Again again, Duration retryAfter) -> {
                if (code.equals("tool_timeout")
                        || code.equals("mcp_unavailable")
                        || again != ToolException.Again.NEVER) {
                    circuit.failed();
                } else if (code.equals("execution_error")) {
                    circuit.unknown();
                } else {
                    circuit.worked();
                }
            }
        }
    }

    /**
     * What is executed.
     *
     * @param leave gives its place among the calls of its tool back, when its thread ends: later than the answer, if it
     *     does not heed its interrupt
     */
    private record Execution(CallableTool tool, Request request, ToolContext context, Runnable leave) {}

    private Outcome execute(Execution call, long timeoutMs, long end) throws ToolException, InterruptedException {
        Request request = call.request();
        try {
            return new Outcome.Done(guards.threads()
                    .call(
                            request.toolName(),
                            () -> call.tool().call(request.params(), call.context()),
                            end - System.nanoTime(),
                            call.leave()));
        } catch (TimeoutException e) {
            return Outcome.Failed.forGood("tool_timeout", "Tool execution timed out after " + timeoutMs + "ms");
        } catch (ExecutionException e) {
            return failure(request, e.getCause());
        }
    }

    private Outcome failure(Request request, @Nullable Throwable cause) {
        if (cause instanceof ToolException no) {
            if (no.code().equals("execution_error") && no.getCause() != null) {
                log(
                        LOGGER.atWarn(),
                        request,
                        no.getCause(),
                        "A Java tool threw an exception, which the model is told of");
            }
            return new Outcome.Failed(
                    no.code(),
                    String.valueOf(no.getMessage()),
                    no.again(),
                    no.retryAfter().orElse(null));
        }
        log(LOGGER.atError(), request, cause, "A tool failed in a way that it should not");
        return Outcome.Failed.forGood("execution_error", "EXECUTION ERROR: " + cause);
    }

    private void log(LoggingEventBuilder event, Request request, @Nullable Throwable cause, String message) {
        String said = String.valueOf(cause);
        event.addKeyValue("taskId", request.event().taskId())
                .addKeyValue("callId", request.callId())
                .addKeyValue("toolName", request.toolName())
                // the message may quote a secret, and a stack trace begins with it
                .addKeyValue("cause", secrets.mask(said))
                .setCause(secrets.mask(said).equals(said) ? cause : null)
                .log(message);
    }

    private Reply completed(Request request, @Nullable Object result, ToolContext context, long started)
            throws InterruptedException {
        try {
            return new Reply.Completed(results.passOn(secrets.maskAll(result), context), elapsedMs(started));
        } catch (IllegalArgumentException e) {
            LOGGER.atError()
                    .addKeyValue("taskId", request.event().taskId())
                    .addKeyValue("callId", request.callId())
                    .addKeyValue("toolName", request.toolName())
                    .log("The result of a tool is no JSON");
            return failed("execution_error", "EXECUTION ERROR: the result of the tool is no JSON", started);
        }
    }

    private static Reply failed(String code, String error, long started) {
        String shown = error.length() <= MAX_ERROR ? error : error.substring(0, MAX_ERROR) + "…";
        return new Reply.Failed(code, shown, elapsedMs(started));
    }

    private static long elapsedMs(long started) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
    }
}
