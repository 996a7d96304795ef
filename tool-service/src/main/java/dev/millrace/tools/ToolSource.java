package dev.millrace.tools;

import java.util.List;
import java.util.Optional;

/** Where tools come from that come and go while the service runs. Safe for any thread. */
public interface ToolSource {

    /** The tools that it has now. */
    List<CallableTool> tools();

    /** The tool with this name, if it has that now. */
    Optional<CallableTool> find(String name);

    /** The tool with this name, waited for if it may be about to come. */
    Optional<CallableTool> await(String name) throws InterruptedException;

    /** Whether it cannot tell yet that it will have no tool of this name. */
    boolean mayGet(String name);

    /** Calls this, on any thread, each time that {@link #tools} has changed. */
    void onChange(Runnable listener);
}
