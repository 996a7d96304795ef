package dev.millrace.bench.crash;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Does to an installation what a {@link Fault} says. */
final class Strike {

    private final Installation installation;

    Strike(Installation installation) {
        this.installation = installation;
    }

    /**
     * Breaks what is to be broken, leaves it so for a while, and mends it: started again, but perhaps not ready yet.
     */
    void carryOut(Fault fault) throws IOException, InterruptedException {
        switch (fault.kind()) {
            case KILL_AGENT -> killed(fault, List.of(agent(fault)));
            case KILL_TOOLS -> killed(fault, List.of(Part.TOOLS));
            case KILL_REFLECTION -> killed(fault, List.of(Part.REFLECTION));
            case KILL_GATEWAY -> killed(fault, List.of(Part.GATEWAY));
            case KILL_BROKER -> killed(fault, List.of(fault.among(installation.brokers())));
            case KILL_ALL -> killed(fault, installation.parts());
            case KILL_BEFORE_COMMIT -> {
                installation.killBeforeCommit(Part.AGENTS);
                launched(fault, Part.AGENTS);
            }
            case RESTART_BROKER -> {
                Part broker = fault.among(installation.brokers());
                installation.stop(broker);
                Thread.sleep(fault.lasting());
                installation.launch(broker);
            }
            case PAUSE_AGENT -> paused(fault, agent(fault));
            case PAUSE_TOOLS -> paused(fault, Part.TOOLS);
            case PAUSE_REFLECTION -> paused(fault, Part.REFLECTION);
            case PAUSE_BROKER -> paused(fault, fault.among(installation.brokers()));
            case HOLD_AGENT -> {
                List<Link> links = installation.links(agent(fault));
                links.forEach(Link::hold);
                Thread.sleep(fault.lasting());
                links.forEach(Link::heal);
            }
            case CUT_AGENT -> cut(fault, List.of(agent(fault)));
            case CUT_TOOLS -> cut(fault, List.of(Part.TOOLS));
            case CUT_ALL -> cut(fault, Part.SERVICES);
            case FULL_DISK -> {
                installation.disk().fill();
                Thread.sleep(fault.lasting());
                installation.disk().free();
            }
            case FULL_DISK_RESTART -> {
                installation.kill(List.of(Part.AGENT_2));
                installation.disk().fill();
                installation.launch(Part.AGENT_2);
                Thread.sleep(fault.lasting().plus(Duration.ofSeconds(4)));
                installation.disk().free();
            }
            case ROLLING_RESTART -> {
                for (Part agent : Part.AGENTS) {
                    installation.stop(agent);
                    installation.launch(agent);
                    installation.awaitReady(agent);
                }
            }
        }
    }

    private void killed(Fault fault, List<Part> parts) throws IOException, InterruptedException {
        installation.kill(parts);
        launched(fault, parts);
    }

    private void launched(Fault fault, List<Part> parts) throws IOException, InterruptedException {
        Thread.sleep(fault.lasting());
        for (Part part : parts) {
            installation.launch(part);
        }
    }

    private void paused(Fault fault, Part part) throws InterruptedException {
        installation.signal(part, "STOP");
        Thread.sleep(fault.lasting());
        installation.signal(part, "CONT");
    }

    private void cut(Fault fault, List<Part> services) throws InterruptedException {
        services.forEach(service -> installation.links(service).forEach(Link::cut));
        Thread.sleep(fault.lasting());
        services.forEach(service -> installation.links(service).forEach(Link::heal));
    }

    private static Part agent(Fault fault) {
        return fault.among(Part.AGENTS);
    }
}
