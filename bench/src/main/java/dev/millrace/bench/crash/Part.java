package dev.millrace.bench.crash;

import java.util.List;

/** A process of the installation. */
public enum Part {
    BROKER("broker"),
    BROKER_2("broker-2"),
    BROKER_3("broker-3"),
    AGENT_1("agent-1"),
    AGENT_2("agent-2"),
    TOOLS("tools"),
    REFLECTION("reflection"),
    GATEWAY("gateway");

    /** Of which an installation has the first one, or all. */
    static final List<Part> BROKERS = List.of(BROKER, BROKER_2, BROKER_3);

    /** All but the brokers. */
    static final List<Part> SERVICES = List.of(AGENT_1, AGENT_2, TOOLS, REFLECTION, GATEWAY);

    /** The two that share the partitions of the task machine. */
    static final List<Part> AGENTS = List.of(AGENT_1, AGENT_2);

    private final String label;

    Part(String label) {
        this.label = label;
    }

    boolean isBroker() {
        return BROKERS.contains(this);
    }

    /** What people and folders call it. */
    String label() {
        return label;
    }
}
