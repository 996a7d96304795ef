package dev.millrace.standalone.transfer;

import dev.millrace.agent.topology.TaskRehoming;
import dev.millrace.reflection.topology.MemoryRehoming;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A topic that a store of a machine is restored from.
 *
 * @param machine {@link #AGENT} or {@link #REFLECTION}
 * @param store the name of the store
 */
record Changelog(String machine, String store) {

    /** The machine of tasks, as its group is called behind the prefix. */
    static final String AGENT = "agent";

    /** The machine of memory, in the same way. */
    static final String REFLECTION = "reflection";

    /** All that there are, by their names without the prefix. */
    static final Map<String, Changelog> ALL = Stream.concat(
                    of(AGENT, TaskRehoming.STORES), of(REFLECTION, MemoryRehoming.STORES))
            .collect(Collectors.collectingAndThen(
                    Collectors.toMap(Changelog::name, Function.identity(), (one, other) -> one, TreeMap::new),
                    Collections::unmodifiableMap));

    private static Stream<Changelog> of(String machine, List<String> stores) {
        return stores.stream().map(store -> new Changelog(machine, store));
    }

    /** Its name without the prefix, as Kafka Streams makes it. */
    String name() {
        return machine + "-" + store + "-changelog";
    }
}
