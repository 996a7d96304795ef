package dev.millrace.tool.api;

import java.time.Instant;
import java.util.Optional;

/**
 * On whose behalf a tool is called. A parameter of this type is filled by the service and not shown to the model.
 * Immutable; more may be told in later versions, so it is implemented by the service alone, and for tests by
 * {@link #of}.
 */
public interface ToolContext {

    /** The call: {@code <task>/<step>/<call>}. The same on every attempt. */
    String callId();

    /**
     * What to give to whatever must not happen twice. The same on every attempt of this call, also after a crash;
     * another call of the model has another one, even if it says the same.
     */
    default String idempotencyKey() {
        return callId();
    }

    /** The task. */
    String taskId();

    /** The conversation; empty if the task is one of its own. */
    Optional<String> session();

    /** The tenant. */
    String namespace();

    /**
     * When the time of the call is over, all attempts together, by the clock of the service; the thread is interrupted
     * then.
     */
    Instant deadline();

    /**
     * A context as there is one outside of the service, for tests: one task of its own, in namespace {@code default},
     * without end.
     */
    static ToolContext of(String callId) {
        return new ToolContext() {
            @Override
            public String callId() {
                return callId;
            }

            @Override
            public String taskId() {
                return "test";
            }

            @Override
            public Optional<String> session() {
                return Optional.empty();
            }

            @Override
            public String namespace() {
                return "default";
            }

            @Override
            public Instant deadline() {
                return Instant.MAX;
            }

            @Override
            public String toString() {
                return "ToolContext[callId=" + callId + "]";
            }
        };
    }
}
