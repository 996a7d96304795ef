package dev.millrace.engine;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
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
 *
 * <p>All stores of a process share one cache of blocks; Streams makes one of that size for each. Blocks are larger than
 * Streams' 4 KiB, since RocksDB keeps a key of each in memory, whatever is read: with 4 KiB that was a hundred bytes
 * more for each task that is kept.
 */
public final class RocksSettings implements RocksDBConfigSetter {

    /** Of as many there is a merge. A look for a key asks the filter of each, which says no without reading. */
    static final int SORTED_RUNS = 10;

    /** Before compression, which makes a third of it. */
    private static final long BLOCK_BYTES = 16 << 10;

    private static final long CACHE_BYTES = 50 << 20;

    /** Made with the first store, when RocksDB is loaded, and there for as long as the process lives. */
    private static final class Shared {
        private static final Cache CACHE = new LRUCache(CACHE_BYTES);
    }

    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        options.setCompressionType(CompressionType.LZ4_COMPRESSION);
        // of universal compaction, which Streams has chosen, this is the number of runs
        options.setLevel0FileNumCompactionTrigger(SORTED_RUNS);
        if (options.tableFormatConfig() instanceof BlockBasedTableConfig table) {
            // Streams closes the one that it has made
            options.setTableFormatConfig(table.setBlockCache(Shared.CACHE).setBlockSize(BLOCK_BYTES));
        }
    }

    @Override
    public void close(String storeName, Options options) {}
}
