package dev.millrace.engine;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.kafka.common.utils.Utils;

/**
 * Brings what the changelogs of a machine have to the partitions of another installation, which may have more or fewer
 * of them: each row goes to where the events of its conversation will come. Everything is shown to {@link #look} first,
 * then everything to {@link #place}. For one thread.
 */
public interface Rehoming {

    /** Where rows go. */
    @FunctionalInterface
    interface Rows {

        /** A row of the store that is being moved. */
        void put(int partition, byte[] key, byte[] value);
    }

    /**
     * A row as its changelog has it.
     *
     * @param store the name of its store
     * @param partition where it is now
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared, and copying all of a changelog would serve nobody
    record Row(String store, int partition, byte[] key, byte[] value) {}

    /** The partition that has what belongs to a key, as Kafka's producers choose it. */
    static int home(String key, int partitions) {
        return home(key.getBytes(StandardCharsets.UTF_8), partitions);
    }

    /** The same for a key as it stands in a record. */
    static int home(byte[] key, int partitions) {
        return Utils.toPositive(Utils.murmur2(key)) % partitions;
    }

    /** Why nothing can be moved while there is this row, for people; empty = it is no obstacle. */
    Optional<String> obstacle(Row row);

    /** Takes note of what a row says of where others belong. */
    void look(Row row);

    /**
     * Puts a row where it belongs, or several in place of it, or none if the machine makes it anew.
     *
     * @throws IllegalArgumentException if this version does not know such rows
     * @throws UnreadableRowException if the row is not what it should be
     */
    void place(Row row, Rows rows);

    /**
     * Puts what all rows of a store together come to. After the last of them.
     *
     * @param store its name
     */
    void finish(String store, Rows rows);
}
