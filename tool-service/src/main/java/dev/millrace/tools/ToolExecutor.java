package dev.millrace.tools;

import dev.millrace.requests.Reply;
import dev.millrace.requests.Request;
import dev.millrace.requests.RequestHandler;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tools.content.LargeResults;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out tool calls. Whatever goes wrong becomes a {@link Reply.Failed} in words that a model understands (F-090,
 * F-301); nothing but an interrupt leaves it as an exception.
 */
public final class ToolExecutor implements RequestHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(ToolExecutor.class);

    private final ToolRegistry registry;
    private final ToolMetrics metrics;
    private final LargeResults results;
    private final Map<String, Arguments> arguments = new ConcurrentHashMap<>();

    public ToolExecutor(ToolRegistry registry, ToolMetrics metrics, LargeResults results) {
        this.registry = registry;
        this.metrics = metrics;
        this.results = results;
    }

    @Override
    public Reply handle(Request request) throws InterruptedException {
        long started = System.nanoTime();
        Reply reply = carryOut(request, started);
        metrics.called(
                registry.find(request.toolName()).isPresent() ? request.toolName() : "unknown",
                reply instanceof Reply.Completed,
                Duration.ofNanos(System.nanoTime() - started));
        return reply;
    }

    private Reply carryOut(Request request, long started) throws InterruptedException {
        Optional<Tool> found = registry.await(request.toolName());
        if (found.isEmpty()) {
            String suggestion = registry.similar(request.toolName())
                    .map(name -> ". Did you mean \"" + name + "\"?")
                    .orElse("");
            return failed("tool_not_found", "Tool \"" + request.toolName() + "\" not found" + suggestion, started);
        }
        Tool tool = found.get();
        List<String> problems = argumentsOf(tool.definition()).problems(request.params());
        if (!problems.isEmpty()) {
            return failed("invalid_arguments", "VALIDATION ERROR: " + String.join("; ", problems), started);
        }
        return run(tool, request, started);
    }

    private Arguments argumentsOf(ToolDefinition definition) {
        Arguments current = arguments.compute(
                definition.name(),
                (name, known) -> known != null && known.areOf(definition) ? known : new Arguments(definition));
        return Objects.requireNonNull(current);
    }

    /** The time limit is the tool's own, or the requester's if that is shorter. */
    private static long timeoutMs(Tool tool, Request request) {
        long own = tool.definition().timeoutMs();
        Long wanted = request.timeoutMs();
        return wanted == null ? own : Math.min(own, wanted);
    }

    private Reply run(Tool tool, Request request, long started) throws InterruptedException {
        Event event = request.event();
        ToolContext context = new ToolContext(
                Optional.ofNullable(event.taskId()).orElse(""), event.sessionId(), event.namespace(), request.callId());
        long timeoutMs = timeoutMs(tool, request);
        CompletableFuture<@Nullable Object> outcome = new CompletableFuture<>();
        Thread worker = Thread.ofVirtual().name("tool-" + request.toolName()).start(() -> {
            try {
                outcome.complete(tool.call(request.params(), context));
            } catch (ToolException | InterruptedException | RuntimeException e) {
                outcome.completeExceptionally(e);
            } finally {
                // an Error ends the thread; the caller must not wait for it
                outcome.completeExceptionally(new IllegalStateException("the tool's thread ended without an outcome"));
            }
        });
        try {
            Object result = outcome.get(timeoutMs, TimeUnit.MILLISECONDS);
            return new Reply.Completed(results.passOn(result, context), elapsedMs(started));
        } catch (TimeoutException e) {
            worker.interrupt();
            return failed("tool_timeout", "Tool execution timed out after " + timeoutMs + "ms", started);
        } catch (ExecutionException e) {
            return failure(request, e.getCause(), started);
        } catch (IllegalArgumentException e) {
            return failure(request, e, started); // the result is no JSON
        } catch (InterruptedException e) {
            worker.interrupt();
            throw e;
        }
    }

    private Reply failure(Request request, @Nullable Throwable cause, long started) {
        if (cause instanceof ToolException no) {
            return failed(no.code(), String.valueOf(no.getMessage()), started);
        }
        LOGGER.atError()
                .addKeyValue("callId", request.callId())
                .addKeyValue("toolName", request.toolName())
                .setCause(cause)
                .log("A tool failed in a way that it should not");
        return failed("execution_error", "EXECUTION ERROR: " + cause, started);
    }

    private static Reply failed(String code, String error, long started) {
        return new Reply.Failed(code, error, elapsedMs(started));
    }

    private static long elapsedMs(long started) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
    }
}
