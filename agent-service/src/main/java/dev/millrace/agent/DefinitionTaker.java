package dev.millrace.agent;

import dev.millrace.schemas.MalformedEventException;
import org.jspecify.annotations.Nullable;

/** Takes the definitions of one kind as they come from the topic, in its order. */
public interface DefinitionTaker {

    /**
     * A definition is there, or has changed, or is gone.
     *
     * @param id what stands in the key after the kind
     * @param value {@code null} = it is gone
     * @throws MalformedEventException if it is no definition; what was there before stays
     */
    void take(String id, byte @Nullable [] value) throws MalformedEventException;

    /**
     * What was taken so far is void: the topic is another one of the same name by now, and is given from its beginning.
     */
    void beginAnew();

    /**
     * Called every few seconds, on the thread that calls {@link #take}, for what does not depend on the topic alone.
     */
    default void lookAgain() {}
}
