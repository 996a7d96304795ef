package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import java.util.function.Consumer;

/** Built-in tools that run in the machine's own process. Safe for any thread; nothing here blocks. */
public interface LocalTools {

    /** None: every call goes to its topic. */
    LocalTools NONE = new LocalTools() {
        @Override
        public boolean serves(String toolName) {
            return false;
        }

        @Override
        public void call(Event request, Consumer<Event> reply) {
            throw new IllegalStateException("expected a tool that is served here");
        }
    };

    /** Whether a call of this tool can be made here now; not if so many wait that others had better take some. */
    boolean serves(String toolName);

    /**
     * Makes a call.
     *
     * @param request TOOL_CALL_REQUESTED
     * @param reply takes TOOL_CALL_COMPLETED or TOOL_CALL_FAILED, once, on any thread; never, if the process ends first
     */
    void call(Event request, Consumer<Event> reply);
}
