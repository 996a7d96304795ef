package dev.millrace.broker;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import kafka.server.FaultHandlerFactory;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.server.fault.FaultHandler;
import org.apache.kafka.server.fault.FaultHandlerException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects what Kafka would answer by ending the JVM, so that whoever runs the broker may decide. Kafka has two ways:
 * fault handlers, which belong to one broker, and {@link Exit}, which is one for the JVM; a halt over the second way
 * counts as a fault of every broker that runs here.
 */
final class Faults implements FaultHandlerFactory, AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(EmbeddedBroker.class);
    private static final Set<Faults> WATCHING = ConcurrentHashMap.newKeySet();

    private final CompletableFuture<Throwable> firstFatal = new CompletableFuture<>();

    private Faults() {}

    /** Takes over for one broker, until {@link #close}. */
    static Faults watch() {
        Faults faults = new Faults();
        WATCHING.add(faults);
        Exit.Procedure report = (status, message) -> {
            FaultHandlerException fault = new FaultHandlerException(
                    message == null ? "its data folder can no longer be read or written" : message);
            WATCHING.forEach(watching -> watching.firstFatal.complete(fault));
            throw fault; // the caller counts on never coming back
        };
        Exit.setHaltProcedure(report);
        Exit.setExitProcedure(report);
        return faults;
    }

    @Override
    public FaultHandler build(String name, boolean fatal, Runnable action) {
        return new FaultHandler() {
            @Override
            public RuntimeException handleFault(String failureMessage, @Nullable Throwable cause) {
                FaultHandlerException fault = new FaultHandlerException(name + ": " + failureMessage, cause);
                if (fatal) {
                    if (firstFatal.complete(fault)) {
                        LOGGER.debug("The broker met a fault that it cannot survive", fault);
                    }
                } else {
                    LOGGER.warn("The broker met a fault", fault);
                }
                action.run();
                return fault;
            }
        };
    }

    /** Completed with the first fault that the broker cannot survive; not before. */
    CompletableFuture<Throwable> firstFatal() {
        return firstFatal;
    }

    @Override
    public void close() {
        WATCHING.remove(this);
        if (WATCHING.isEmpty()) {
            Exit.resetHaltProcedure();
            Exit.resetExitProcedure();
        }
    }
}
