package dev.millrace.standalone;

import dev.millrace.agent.topology.LocalTools;
import dev.millrace.requests.DirectCalls;
import dev.millrace.schemas.Event;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.function.Consumer;

/** What services in one process have of each other. */
public class TogetherWiring {

    /** Tools that only read are called from hand to hand. */
    @Produces
    @Singleton
    LocalTools localTools(DirectCalls calls) {
        return new LocalTools() {
            @Override
            public boolean serves(String toolName) {
                return calls.takes(toolName);
            }

            @Override
            public void call(Event request, Consumer<Event> reply) {
                calls.call(request, reply);
            }
        };
    }
}
