package dev.millrace.agent;

import java.util.List;
import java.util.stream.Collectors;

/** There is no agent of this name. The message says so, and which there are. */
public final class UnknownAgentException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnknownAgentException(String wanted, List<Agents.Current> known) {
        super("expected the name of an agent, found " + wanted + "; there are: "
                + known.stream().map(agent -> agent.definition().name()).collect(Collectors.joining(", ")));
    }
}
