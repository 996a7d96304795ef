package dev.millrace.gateway.query;

import dev.millrace.api.AgentView;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The names of the agents that there have to be, asked for anew every few seconds while somebody wants to know. For any
 * thread.
 */
public final class KnownAgents {
    private static final Logger LOGGER = LoggerFactory.getLogger(KnownAgents.class);

    private final AgentClient client;
    private final Duration fresh;
    private final ReentrantLock asking = new ReentrantLock();
    private volatile Snapshot snapshot = new Snapshot(Optional.empty(), Long.MIN_VALUE);

    private record Snapshot(Optional<List<AgentView>> agents, long atNanos) {

        Optional<SortedSet<String>> names(String namespace) {
            return agents.map(all -> all.stream()
                    .filter(agent -> agent.isFor(Set.of(namespace)))
                    .map(AgentView::name)
                    .collect(Collectors.toCollection(TreeSet::new)));
        }
    }

    /**
     * Asks nobody yet.
     *
     * @param fresh for how long an answer, or that there was none, is taken as it is
     */
    public KnownAgents(AgentClient client, Duration fresh) {
        this.client = client;
        this.fresh = fresh;
    }

    /**
     * The names of those that there are for the tasks of a namespace, in alphabetical order.
     *
     * @return empty if they are not known now, or tasks for others are taken as well
     */
    public Optional<SortedSet<String>> names(String namespace) throws InterruptedException {
        Snapshot now = snapshot;
        if (isFresh(now) || !asking.tryLock()) {
            return now.names(namespace);
        }
        try {
            if (!isFresh(snapshot)) {
                snapshot = new Snapshot(ask(), System.nanoTime());
            }
            return snapshot.names(namespace);
        } finally {
            asking.unlock();
        }
    }

    /**
     * The names, in an answer that is not older than this question unless it has the one that is looked for: an agent
     * may have been there for a second only.
     *
     * @return empty if they are not known now, or tasks for others are taken as well
     */
    public Optional<SortedSet<String>> namesWith(String wanted, String namespace) throws InterruptedException {
        Snapshot now = snapshot;
        if (isFresh(now)
                && now.names(namespace).map(names -> !names.contains(wanted)).orElse(false)) {
            asking.lockInterruptibly();
            try {
                snapshot = new Snapshot(ask(), System.nanoTime());
                return snapshot.names(namespace);
            } finally {
                asking.unlock();
            }
        }
        return names(namespace);
    }

    private boolean isFresh(Snapshot one) {
        return one.atNanos() != Long.MIN_VALUE && System.nanoTime() - one.atNanos() < fresh.toNanos();
    }

    private Optional<List<AgentView>> ask() throws InterruptedException {
        try {
            AgentView.All answer =
                    client.get(AgentClient.path("agents"), Map.of()).as(AgentView.All.class);
            return answer.defaultAgent() != null || answer.agents().isEmpty()
                    ? Optional.empty()
                    : Optional.of(answer.agents());
        } catch (QueryUnavailableException e) {
            LOGGER.atDebug().setCause(e).log("The agents are not known now");
            return Optional.empty();
        }
    }
}
