package dev.millrace.agent;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every agent in every version that is known: those that are built in, and those that files define, which go before a
 * built-in one of the same name. Safe for any thread; never blocks.
 */
public final class Agents {

    /** The agent of a task that names none. */
    public static final String DEFAULT = "general";

    private static final Logger LOGGER = LoggerFactory.getLogger(Agents.class);

    private final Map<String, AgentDefinition> builtIn;
    private final @Nullable String forUnknown;
    /** By reference. */
    private final Map<String, AgentDefinition> versions = new ConcurrentHashMap<>();
    /** References of what files say now, by name. */
    private final Map<String, String> fromFiles = new ConcurrentHashMap<>();

    private final Set<String> missed = ConcurrentHashMap.newKeySet();
    private final AtomicLong changes = new AtomicLong();
    private volatile InForce inForce = new InForce(-1, List.of());

    /**
     * An agent that takes tasks now.
     *
     * @param fromFile whether a file defines it; else it is built in
     */
    public record Current(AgentDefinition definition, boolean fromFile) {}

    /** All that take tasks after so many changes. */
    private record InForce(long changes, List<Current> all) {}

    /**
     * With these and no others yet; one must be the default agent. Nobody takes tasks for an agent that is not there.
     */
    public Agents(List<AgentDefinition> builtIn) {
        this(builtIn, null);
    }

    /**
     * With these and no others yet; one must be the default agent.
     *
     * @param forUnknown the agent that takes tasks for one that is not there; {@code null} = such tasks are refused
     */
    public Agents(List<AgentDefinition> builtIn, @Nullable String forUnknown) {
        this.builtIn =
                builtIn.stream().collect(Collectors.toUnmodifiableMap(AgentDefinition::name, Function.identity()));
        if (!this.builtIn.containsKey(DEFAULT)) {
            throw new IllegalArgumentException("expected an agent called " + DEFAULT + " among the built-in ones");
        }
        builtIn.forEach(agent -> versions.put(agent.reference(), agent));
        this.forUnknown = forUnknown;
    }

    /**
     * The agent that works on a task: for a reference exactly that version, for a name what is in force now.
     *
     * @return what is in force now if the version is lost; empty if there is no such agent
     */
    public Optional<AgentDefinition> find(String nameOrReference) {
        AgentDefinition exact = versions.get(nameOrReference);
        if (exact != null) {
            return Optional.of(exact);
        }
        String name = AgentDefinition.nameIn(nameOrReference);
        Optional<AgentDefinition> current = current(name).map(Current::definition);
        if (!name.equals(nameOrReference) && current.isPresent() && missed.add(nameOrReference)) {
            LOGGER.atWarn()
                    .addKeyValue("agent", nameOrReference)
                    .log("A version of an agent that a task began with is no longer there; the one in force goes on");
        }
        return current;
    }

    /**
     * The same as {@link #find} for an agent that is there.
     *
     * @throws UnknownAgentException if it is not
     */
    public AgentDefinition of(String nameOrReference) {
        return find(nameOrReference).orElseThrow(() -> new UnknownAgentException(nameOrReference, all()));
    }

    /** Exactly this version; empty if it is lost. */
    Optional<AgentDefinition> version(String reference) {
        return Optional.ofNullable(versions.get(reference));
    }

    /**
     * The agent for a new task: the one of this name, or the one that takes tasks for agents that are not there.
     *
     * @param here which agents there are for the task, by name
     * @throws UnknownAgentException if there is neither
     */
    public AgentDefinition forNewTask(String name, Predicate<String> here) {
        return current(name)
                .filter(agent -> here.test(agent.definition().name()))
                .or(() -> forUnknown == null || !here.test(forUnknown) ? Optional.empty() : current(forUnknown))
                .map(Current::definition)
                .orElseThrow(() -> new UnknownAgentException(
                        name,
                        all().stream()
                                .filter(agent -> here.test(agent.definition().name()))
                                .toList()));
    }

    /** The agent that takes tasks for one that is not there; empty = they are refused. */
    public Optional<String> forUnknown() {
        return Optional.ofNullable(forUnknown);
    }

    /**
     * The agent for a new task, which stays on it.
     *
     * @param name what the task asks for
     * @param start the event that starts the task
     * @param now when that was taken
     * @param above references of the agents of the tasks that led to this one
     * @param here which agents there are for the task, by name
     * @throws UnknownAgentException if there is no agent for it
     */
    public AgentPin pin(String name, Event start, Instant now, List<String> above, Predicate<String> here) {
        AgentDefinition agent = forNewTask(name, here);
        return new AgentPin(
                agent.reference(),
                start.payload() instanceof Payload.MessageReceived message ? message.model() : null,
                values(agent, start, now),
                above);
    }

    private static Map<String, String> values(AgentDefinition agent, Event start, Instant now) {
        Map<String, String> values = agent.prompt().values(start.namespace(), start.fields(), now);
        if (!(start.payload() instanceof Payload.MessageReceived message)
                || message.thread() == null
                || message.thread().participants().isEmpty()) {
            return values;
        }
        Map<String, String> more = new TreeMap<>(values);
        more.put(AgentPin.PARTICIPANTS, String.join(", ", message.thread().participants()));
        return more;
    }

    /** The agent with this name that takes tasks now. */
    public Optional<Current> current(String name) {
        String reference = fromFiles.get(name);
        AgentDefinition fromFile = reference == null ? null : versions.get(reference);
        if (fromFile != null) {
            return Optional.of(new Current(fromFile, true));
        }
        return Optional.ofNullable(builtIn.get(name)).map(agent -> new Current(agent, false));
    }

    /** All agents that take tasks now, by name; the same list until one of them changes. */
    public List<Current> all() {
        InForce known = inForce;
        long now = changes.get();
        if (known.changes() != now) {
            known = new InForce(now, inForceNow());
            inForce = known;
        }
        return known.all();
    }

    private List<Current> inForceNow() {
        Map<String, Current> all = new TreeMap<>();
        builtIn.keySet().forEach(name -> current(name).ifPresent(agent -> all.put(name, agent)));
        fromFiles.keySet().forEach(name -> current(name).ifPresent(agent -> all.put(name, agent)));
        return List.copyOf(all.values());
    }

    /** Names of the agents that files define now. */
    public Set<String> namesFromFiles() {
        return Set.copyOf(fromFiles.keySet());
    }

    /** There is this version; nobody uses it yet. */
    public void add(AgentDefinition agent) {
        versions.put(agent.reference(), agent);
        changes.incrementAndGet();
    }

    /** This version is gone for good. */
    public void forget(String reference) {
        AgentDefinition own = builtIn.get(AgentDefinition.nameIn(reference));
        if (own == null || !own.reference().equals(reference)) {
            versions.remove(reference);
            changes.incrementAndGet();
        }
    }

    /** No file defines any agent any more. What tasks run on stays theirs, since it may be nowhere else. */
    public void dropAll() {
        fromFiles.clear();
        changes.incrementAndGet();
    }

    /** New tasks of this agent get this version from now on; as soon as it is there. */
    public void use(String name, String version) {
        String reference = AgentDefinition.referenceOf(name, version);
        String before = fromFiles.put(name, reference);
        changes.incrementAndGet();
        if (!Objects.equals(before, reference)) {
            LOGGER.atInfo()
                    .addKeyValue("agent", name)
                    .addKeyValue("version", version)
                    .addKeyValue("was", before == null ? "not there" : before)
                    .log("An agent has a new definition; tasks that run stay on theirs");
        }
    }

    /** No file defines this agent any more: a built-in one of the name is in force again. */
    public void drop(String name) {
        @Nullable String before = fromFiles.remove(name);
        changes.incrementAndGet();
        if (before != null) {
            LOGGER.atInfo()
                    .addKeyValue("agent", name)
                    .addKeyValue("was", before)
                    .addKeyValue("builtIn", builtIn.containsKey(name))
                    .log("An agent's file is gone; tasks that run stay on their definition");
        }
    }
}
