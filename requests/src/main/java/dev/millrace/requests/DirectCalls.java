package dev.millrace.requests;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.MalformedEventException;
import java.time.Instant;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tool calls that come from hand to hand, out of the same process: no topic keeps them, so what is running when the
 * process ends is the requester's to ask for again. Safe for any thread; nothing but {@link #close} blocks.
 */
public final class DirectCalls implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(DirectCalls.class);
    private static final long IDLE_SECONDS = 30;
    /** So many calls per thread may wait; of more, others had better take some. */
    private static final int WAITING_PER_THREAD = 8;

    private final Predicate<String> served;
    private final RequestHandler handler;
    private final ThreadPoolExecutor threads;
    private final int mostWaiting;

    /**
     * Calls of this handler.
     *
     * @param served whether it knows a tool
     * @param maxConcurrent how many run at a time, 1 or more
     */
    public DirectCalls(Predicate<String> served, RequestHandler handler, int maxConcurrent) {
        this.served = served;
        this.handler = handler;
        this.mostWaiting = WAITING_PER_THREAD * maxConcurrent;
        // of the platform's, since nobody can tell how much a tool computes
        this.threads = new ThreadPoolExecutor(
                maxConcurrent,
                maxConcurrent,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name("direct-call-", 0).factory());
        threads.allowCoreThreadTimeOut(true);
    }

    /** Whether a call of this tool would begin soon. */
    public boolean takes(String toolName) {
        return threads.getQueue().size() < mostWaiting && !threads.isShutdown() && served.test(toolName);
    }

    /**
     * Makes a call.
     *
     * @param request TOOL_CALL_REQUESTED
     * @param reply takes TOOL_CALL_COMPLETED or TOOL_CALL_FAILED, once, unless this is closed first
     */
    public void call(Event request, Consumer<Event> reply) {
        try {
            threads.execute(() -> carryOut(request, reply));
        } catch (RejectedExecutionException e) {
            LOGGER.atDebug().addKeyValue("eventId", request.id()).log("Closed; the call is to be made by others");
        }
    }

    private void carryOut(Event event, Consumer<Event> reply) {
        try {
            Request request = Request.of(event, 1);
            reply.accept(answer(request, CallWork.handle(handler, request)));
        } catch (MalformedEventException e) {
            LOGGER.atError().addKeyValue("eventId", event.id()).setCause(e).log("A request is no call of a tool");
        } catch (InterruptedException e) {
            LOGGER.atDebug().addKeyValue("eventId", event.id()).log("Interrupted; the call is to be made by others");
        }
    }

    private static Event answer(Request request, Reply reply) {
        try {
            return ReplyEvents.toEvent(request, reply, Instant.now());
        } catch (IllegalArgumentException e) {
            return ReplyEvents.toEvent(request, CallWork.noJson(reply, String.valueOf(e.getMessage())), Instant.now());
        }
    }

    /** Interrupts what runs; its requester asks again. */
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
