package dev.millrace.reflection.topology;

import dev.millrace.engine.Rehoming;
import java.util.List;
import java.util.Optional;

/** Moves the rows of the memory machine, each with its namespace. */
public final class MemoryRehoming implements Rehoming {

    /** The stores that have something to move, by name. */
    public static final List<String> STORES = List.of(MemoryStores.ROWS);

    private final int to;

    /**
     * To an installation.
     *
     * @param to how many partitions it has, 1 or more
     */
    public MemoryRehoming(int to) {
        this.to = to;
    }

    @Override
    public Optional<String> obstacle(Row row) {
        return MemoryStores.FORGETTING.has(row.key())
                ? Optional.of("the memory of the namespace "
                        + MemoryStores.FORGETTING
                                .valueIn(row.value())
                                .forgotten()
                                .namespace()
                        + " is just being forgotten")
                : Optional.empty();
    }

    @Override
    public void look(Row row) {
        // each row says itself of which namespace it is
    }

    @Override
    public void place(Row row, Rows rows) {
        rows.put(Rehoming.home(namespace(row), to), row.key(), row.value());
    }

    private static String namespace(Row row) {
        if (MemoryStores.CALLS.has(row.key())) {
            return MemoryStores.CALLS.valueIn(row.value()).request().namespace();
        }
        return MemoryStores.BY_NAMESPACE.stream()
                .filter(section -> section.has(row.key()))
                .findFirst()
                .map(section -> MemoryStores.namespaceIn(section.keyIn(row.key())))
                .orElseThrow(() -> new IllegalArgumentException(
                        "a kind of rows that this version does not know: " + (char) row.key()[0]));
    }

    @Override
    public void finish(String store, Rows rows) {
        // rows of several partitions have nothing in common
    }
}
