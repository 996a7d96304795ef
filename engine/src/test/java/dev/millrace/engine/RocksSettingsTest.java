package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.CompactionStyle;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

class RocksSettingsTest {

    private static final int ROWS = 20_000;

    @TempDir
    private Path folder;

    @Test
    @DisplayName("rows take less than half of their size on disk, also beside those that were written before")
    void shouldCompress() throws RocksDBException {
        write(folder, false, "before");
        long plain = bytes(folder);

        write(folder, true, "after");

        assertThat(bytes(folder) - plain).isPositive().isLessThan(plain / 2);
        try (Options options = options(true);
                RocksDB store = RocksDB.openReadOnly(options, folder.toString())) {
            assertThat(store.get(key("before", 7))).isEqualTo(row(7));
            assertThat(store.get(key("after", ROWS - 1))).isEqualTo(row(ROWS - 1));
        }
    }

    @Test
    @Timeout(20)
    @DisplayName("a few runs stay as they are; of as many as are to be merged there are few soon after")
    void shouldMergeSeldom() throws RocksDBException, InterruptedException {
        try (Options options = options(true).setCompactionStyle(CompactionStyle.UNIVERSAL);
                RocksDB store = RocksDB.open(options, folder.toString());
                FlushOptions flush = new FlushOptions()) {
            for (int run = 1; run < RocksSettings.SORTED_RUNS; run++) {
                store.put(key("run", run), row(run));
                store.flush(flush);
            }
            Thread.sleep(500); // in which it would have merged them
            assertThat(store.getLiveFilesMetaData()).hasSize(RocksSettings.SORTED_RUNS - 1);

            store.put(key("run", 0), row(0));
            store.flush(flush);

            while (store.getLiveFilesMetaData().size() > RocksSettings.SORTED_RUNS / 2) {
                Thread.sleep(10);
            }
        }
    }

    @Test
    @DisplayName("RocksDB keeps less than half as much of a store in memory, and stores share one cache")
    void shouldKeepLittleInMemory() throws RocksDBException {
        long plain = memory(false);

        assertThat(memory(true)).isLessThan(plain / 2);

        try (Options options = options(true);
                RocksDB one = RocksDB.open(options, folder.resolve("true").toString());
                Options others = options(true);
                RocksDB other = RocksDB.open(others, folder.resolve("other").toString())) {
            long before = other.getLongProperty("rocksdb.block-cache-usage");
            for (int i = 0; i < ROWS; i++) {
                assertThat(one.get(key("when", i))).isEqualTo(row(i));
            }
            assertThat(other.getLongProperty("rocksdb.block-cache-usage")).isGreaterThan(before + ROWS);
        }
    }

    private long memory(boolean ours) throws RocksDBException {
        Path store = folder.resolve(Boolean.toString(ours));
        write(store, ours, "when");
        try (Options options = options(ours);
                RocksDB rows = RocksDB.open(options, store.toString())) {
            assertThat(rows.get(key("when", 0))).isEqualTo(row(0));
            return rows.getLongProperty("rocksdb.estimate-table-readers-mem");
        }
    }

    private static void write(Path folder, boolean compressed, String when) throws RocksDBException {
        try (Options options = options(compressed);
                RocksDB store = RocksDB.open(options, folder.toString());
                FlushOptions flush = new FlushOptions()) {
            for (int i = 0; i < ROWS; i++) {
                store.put(key(when, i), row(i));
            }
            store.flush(flush);
        }
    }

    private static Options options(boolean compressed) {
        // as Streams has it
        Options options = new Options()
                .setCreateIfMissing(true)
                .setCompressionType(CompressionType.NO_COMPRESSION)
                .setTableFormatConfig(new BlockBasedTableConfig());
        if (compressed) {
            new RocksSettings().setConfig("rows", options, Map.of());
        }
        return options;
    }

    private static byte[] key(String when, int number) {
        return "%s %08d".formatted(when, number).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] row(int number) {
        return """
                {"type":"TASK_STATE_CHANGED","subject":"%1$d","data":{"from":"THINKING","to":"ACTING","by":%1$d}}
                """.formatted(number).getBytes(StandardCharsets.UTF_8);
    }

    private static long bytes(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".sst"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
