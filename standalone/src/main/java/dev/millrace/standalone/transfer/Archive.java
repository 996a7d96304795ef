package dev.millrace.standalone.transfer;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JacksonException;
import dev.millrace.schemas.Json;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * The file of an installation: compressed with gzip, a line of JSON for the installation, one for each record, and one
 * that counts them, without which it is not whole.
 */
final class Archive {

    /** What this version writes, and the newest that it reads. */
    static final int FORMAT = 1;

    private Archive() {}

    /**
     * The first line.
     *
     * @param format {@link #FORMAT} of the version that wrote it
     * @param version of Millrace, which wrote it
     * @param prefix of the topics that it was read from
     * @param partitions of the lanes and the journal there
     * @param topics how many partitions each topic had, by its name without the prefix
     * @param changelogs how those topics were made that the stores of machines are restored from, in the same way
     * @param madeAt when it was begun, in ISO 8601
     */
    record Origin(
            @JsonProperty("millraceExport") int format,
            @JsonProperty("version") String version,
            @JsonProperty("prefix") String prefix,
            @JsonProperty("partitions") int partitions,
            @JsonProperty("topics") Map<String, Integer> topics,
            @JsonProperty("changelogs") Map<String, Map<String, String>> changelogs,
            @JsonProperty("madeAt") String madeAt) {}

    /** A header of a record. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Head(
            @JsonProperty("name") String name,
            @JsonProperty("value") byte @Nullable [] value) {}

    /**
     * One record.
     *
     * @param topic its name without the prefix
     * @param timestamp in Unix milliseconds
     * @param key in base64; {@code null} = none
     * @param value in base64; {@code null} = none
     * @param headers in their order; {@code null} = none
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Entry(
            @JsonProperty("topic") String topic,
            @JsonProperty("partition") int partition,
            @JsonProperty("offset") long offset,
            @JsonProperty("timestamp") long timestamp,
            @JsonProperty("key") byte @Nullable [] key,
            @JsonProperty("value") byte @Nullable [] value,
            @JsonProperty("headers") @Nullable List<Head> headers) {

        static Entry of(String topic, ConsumerRecord<byte[], byte[]> found) {
            List<Head> heads = new ArrayList<>();
            for (Header header : found.headers()) {
                heads.add(new Head(header.key(), header.value()));
            }
            return new Entry(
                    topic,
                    found.partition(),
                    found.offset(),
                    found.timestamp(),
                    found.key(),
                    found.value(),
                    heads.isEmpty() ? null : heads);
        }

        /** The value of the last header of this name as text; empty if there is none. */
        Optional<String> header(String name) {
            return headers == null
                    ? Optional.empty()
                    : headers.reversed().stream()
                            .filter(head -> head.name().equals(name) && head.value() != null)
                            .findFirst()
                            .map(head -> new String(head.value(), StandardCharsets.UTF_8));
        }
    }

    /** The last line. */
    private record End(@JsonProperty("records") long records) {}

    /** Writes one; it is at its place when it is whole. */
    static final class Writer implements AutoCloseable {

        private final Path file;
        private final Path part;
        private final OutputStream out;
        private final Map<String, Long> counts = new TreeMap<>();
        private long records;

        /**
         * Begins one, which only its owner can read.
         *
         * @throws FileAlreadyExistsException if there is such a file
         */
        Writer(Path file, Origin origin) throws IOException {
            if (Files.exists(file)) {
                throw new FileAlreadyExistsException(file.toString());
            }
            this.file = file;
            Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent());
            this.part = Files.createTempFile(folder, file.getFileName().toString(), ".part");
            this.out = new BufferedOutputStream(new GZIPOutputStream(Files.newOutputStream(part)), 1 << 16);
            line(Json.write(origin));
        }

        void add(Entry entry) throws IOException {
            line(Json.MAPPER.writeValueAsBytes(entry));
            counts.merge(entry.topic(), 1L, Long::sum);
            records++;
        }

        /** How many records there are so far, by topic. */
        Map<String, Long> counts() {
            return counts;
        }

        /** It is whole. */
        void finish() throws IOException {
            line(Json.write(new End(records)));
            out.close();
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        }

        private void line(byte[] json) throws IOException {
            out.write(json);
            out.write('\n');
        }

        @Override
        public void close() throws IOException {
            out.close();
            Files.deleteIfExists(part);
        }
    }

    /** What is done with an entry. */
    interface Taker {
        void take(Entry entry) throws TransferException;
    }

    /**
     * What an archive is of.
     *
     * @throws TransferException if it is none, or of a newer version
     */
    static Origin origin(Path file) throws IOException, TransferException {
        try (BufferedReader lines = open(file)) {
            return origin(lines, file);
        }
    }

    /**
     * Tells all entries of an archive, in their order.
     *
     * @throws TransferException if it is none, or is not whole
     */
    static void read(Path file, Taker taker) throws IOException, TransferException {
        long records = 0;
        try (BufferedReader lines = open(file)) {
            Origin unused = origin(lines, file);
            String line = lines.readLine();
            for (String next = lines.readLine(); next != null; next = lines.readLine()) {
                taker.take(Json.MAPPER.readValue(line, Entry.class));
                records++;
                line = next;
            }
            if (line == null || Json.MAPPER.readValue(line, End.class).records() != records) {
                throw notWhole(file, records);
            }
        } catch (EOFException | ZipException | JacksonException e) {
            throw notWhole(file, records);
        }
    }

    private static TransferException notWhole(Path file, long records) {
        return new TransferException(
                file + ": expected a line at its end that counts its records, found the file to end behind " + records
                        + " of them. It is not whole");
    }

    private static BufferedReader open(Path file) throws IOException, TransferException {
        InputStream in = new BufferedInputStream(Files.newInputStream(file));
        try {
            return new BufferedReader(
                    new InputStreamReader(new GZIPInputStream(in, 1 << 16), StandardCharsets.UTF_8), 1 << 16);
        } catch (EOFException | ZipException e) {
            in.close();
            throw none(file);
        }
    }

    private static TransferException none(Path file) {
        return new TransferException(file + ": expected a file that millrace export has written, found another one");
    }

    private static Origin origin(BufferedReader lines, Path file) throws IOException, TransferException {
        String first = lines.readLine();
        Origin origin;
        try {
            origin = Json.MAPPER.readValue(String.valueOf(first), Origin.class);
        } catch (JacksonException e) {
            origin = null;
        }
        if (origin == null || origin.format() < 1) {
            throw none(file);
        }
        if (origin.format() > FORMAT) {
            throw new TransferException(file + ": expected format " + FORMAT + " or older, found " + origin.format()
                    + ", written by Millrace " + origin.version());
        }
        if (origin.partitions() < 1 || origin.topics() == null || origin.changelogs() == null) {
            throw none(file);
        }
        return origin;
    }
}
