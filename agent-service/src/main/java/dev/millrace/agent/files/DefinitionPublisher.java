package dev.millrace.agent.files;

import org.jspecify.annotations.Nullable;

/** Puts definitions where every instance reads them. */
public interface DefinitionPublisher {

    /**
     * Returns when it is stored.
     *
     * @param value {@code null} = take it back
     * @return false if it could not be stored now
     */
    boolean publish(String key, byte @Nullable [] value) throws InterruptedException;
}
