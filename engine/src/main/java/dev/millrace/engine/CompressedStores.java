package dev.millrace.engine;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.CompressionType;
import org.rocksdb.Options;

/**
 * Has RocksDB compress what it keeps on disk, which Streams does not: rows and events are JSON, so it is a third of the
 * size. What was written before stays as it is until it is compacted. Streams makes it by the name of its class.
 */
public final class CompressedStores implements RocksDBConfigSetter {

    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        options.setCompressionType(CompressionType.LZ4_COMPRESSION);
    }

    @Override
    public void close(String storeName, Options options) {}
}
