package dev.millrace.engine;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.CompressionType;
import org.rocksdb.Options;

/**
 * What RocksDB is told beside what Streams tells it. Streams makes it by the name of its class.
 *
 * <p>What is kept on disk is compressed: rows and events are JSON, so it is a third of the size. What was written
 * before stays as it is until it is compacted.
 *
 * <p>Sorted runs are merged when there are more of them than RocksDB's own 4. What is rewritten is so within seconds,
 * mostly before it is on disk, so a merge brings readers little and costs what it copies: with 4 that was a tenth of
 * the CPU of a task.
 */
public final class RocksSettings implements RocksDBConfigSetter {

    /** Of as many there is a merge. A look for a key asks the filter of each, which says no without reading. */
    static final int SORTED_RUNS = 10;

    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        options.setCompressionType(CompressionType.LZ4_COMPRESSION);
        // of universal compaction, which Streams has chosen, this is the number of runs
        options.setLevel0FileNumCompactionTrigger(SORTED_RUNS);
    }

    @Override
    public void close(String storeName, Options options) {}
}
