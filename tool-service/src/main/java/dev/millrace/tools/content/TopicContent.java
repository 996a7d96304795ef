package dev.millrace.tools.content;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.kafka.AcknowledgedProducer;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.ForgottenFollower;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.ForgottenSet;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Topics;
import dev.millrace.tool.api.ToolException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Contents on the topic {@code content}: first the pieces, each a record, then a record that says where they lie and
 * who may read them. The reference is the place of the latter, so that a page costs two reads wherever it lies in the
 * content. What is read is checked to be what was looked for: a piece is never taken for an index, whatever a tool put
 * into it.
 */
public final class TopicContent implements ContentStore, AutoCloseable {

    /** How large a piece is, in bytes. */
    static final int PIECE_BYTES = 500_000;

    private static final String CLIENT = "millrace-tools";
    private static final String PIECE = "piece";
    private static final String INDEX = "index";
    private static final Pattern REFERENCE = Pattern.compile("content-(\\d{1,9})-(\\d{1,18})-([0-9a-f]{8})");
    /** How long a content may take to be kept, or read. */
    private static final Duration WRITE_LIMIT = Duration.ofSeconds(20);

    private static final Duration READ_LIMIT = Duration.ofSeconds(15);

    private final TopicLog log;
    private final AcknowledgedProducer producer;
    private final ForgottenFollower forgotten;

    /** Where a piece lies. */
    record Place(int partition, long offset) {}

    /** The record that makes pieces a content. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Index(
            @JsonProperty("namespace") String namespace,
            @JsonProperty("taskId") String taskId,
            @JsonProperty("sessionId") @Nullable String sessionId,
            @JsonProperty("contentType") String contentType,
            @JsonProperty("totalBytes") long totalBytes,
            @JsonProperty("pieceBytes") int pieceBytes,
            @JsonProperty("pieces") List<Place> pieces) {

        private Owner owner() {
            return new Owner(namespace, taskId, sessionId);
        }

        private boolean isIn(ForgottenSet forgotten, long dateMs) {
            return forgotten.has(namespace, taskId.isEmpty() ? null : taskId, sessionId, dateMs);
        }
    }

    /** Keeps contents on the topic of this installation; connects when it is first used. */
    public TopicContent(ClientSettings kafka, Topics topics) {
        this.log = new TopicLog(kafka, topics.content(), CLIENT);
        this.producer = new AcknowledgedProducer(kafka.prompt(CLIENT + "-content"), WRITE_LIMIT);
        this.forgotten = new ForgottenFollower(kafka, topics, CLIENT);
    }

    @Override
    public String put(Owner owner, String callId, byte[] content, String contentType)
            throws UnavailableException, InterruptedException {
        try {
            List<ProducerRecord<String, byte[]>> pieces = new ArrayList<>();
            for (int from = 0; from < content.length; from += PIECE_BYTES) {
                byte[] piece = Arrays.copyOfRange(content, from, Math.min(from + PIECE_BYTES, content.length));
                pieces.add(message(callId, PIECE, piece));
            }
            List<Place> places = producer.send(pieces).stream()
                    .map(stored -> new Place(stored.partition(), stored.offset()))
                    .toList();
            Index index = new Index(
                    owner.namespace(),
                    owner.taskId(),
                    owner.sessionId(),
                    contentType,
                    content.length,
                    PIECE_BYTES,
                    places);
            RecordMetadata place = producer.send(List.of(message(callId, INDEX, Json.write(index))))
                    .getFirst();
            return "content-" + place.partition() + "-" + place.offset() + "-" + check(callId);
        } catch (KafkaException e) {
            throw new UnavailableException(String.valueOf(e.getMessage()), e);
        }
    }

    private ProducerRecord<String, byte[]> message(String callId, String kind, byte[] value) {
        ProducerRecord<String, byte[]> message = new ProducerRecord<>(log.topic(), callId, value);
        message.headers().add(HeaderNames.CONTENT, kind.getBytes(StandardCharsets.UTF_8));
        return message;
    }

    @Override
    public Slice read(Owner reader, String reference, long offset, int length)
            throws ToolException, InterruptedException {
        Matcher parts = REFERENCE.matcher(reference);
        if (!parts.matches()) {
            throw unknown(reference);
        }
        TopicPartition partition = log.partition(Integer.parseInt(parts.group(1)));
        long place = Long.parseLong(parts.group(2));
        long deadline = System.nanoTime() + READ_LIMIT.toNanos();
        try {
            ForgottenSet gone = forgotten.upToNow(READ_LIMIT);
            if (log.ends(deadline).getOrDefault(partition, 0L) <= place) {
                throw unknown(reference);
            }
            ConsumerRecord<byte[], byte[]> found =
                    log.at(partition, place, deadline).orElse(null);
            if (found == null || !isKind(found, INDEX) || !check(key(found)).equals(parts.group(3))) {
                throw unknown(reference);
            }
            Index index = indexIn(found);
            if (!reader.mayRead(index.owner()) || index.isIn(gone, found.timestamp())) {
                throw unknown(reference); // the same words, so that nobody learns what there is
            }
            return new Slice(
                    bytes(index, key(found), offset, length, deadline), index.totalBytes(), index.contentType());
        } catch (OffsetOutOfRangeException e) {
            throw new ToolException("content_gone", "The content \"" + reference + "\" is no longer kept");
        } catch (KafkaException e) {
            throw unavailable(e.getMessage());
        }
    }

    private static Index indexIn(ConsumerRecord<byte[], byte[]> found) throws ToolException {
        try {
            return Json.MAPPER.readValue(found.value(), Index.class);
        } catch (IOException e) {
            throw unavailable(e.getMessage());
        }
    }

    private byte[] bytes(Index index, String key, long offset, int length, long deadline)
            throws ToolException, InterruptedException {
        long end = Math.min(index.totalBytes(), offset + length);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long at = offset;
        while (at < end) {
            int number = (int) (at / index.pieceBytes());
            Place place = index.pieces().get(number);
            ConsumerRecord<byte[], byte[]> piece = log.at(log.partition(place.partition()), place.offset(), deadline)
                    .orElse(null);
            if (piece == null || !isKind(piece, PIECE) || !key.equals(key(piece))) {
                throw unavailable("a piece is missing");
            }
            int from = (int) (at - (long) number * index.pieceBytes());
            int size = (int) Math.min(piece.value().length - from, end - at);
            if (size <= 0) {
                throw unavailable("a piece is too short");
            }
            bytes.write(piece.value(), from, size);
            at += size;
        }
        return bytes.toByteArray();
    }

    /** Empty if it has none. */
    private static String key(ConsumerRecord<byte[], byte[]> found) {
        return found.key() == null ? "" : new String(found.key(), StandardCharsets.UTF_8);
    }

    private static boolean isKind(ConsumerRecord<byte[], byte[]> found, String kind) {
        Header header = found.headers().lastHeader(HeaderNames.CONTENT);
        return found.value() != null
                && header != null
                && header.value() != null
                && kind.equals(new String(header.value(), StandardCharsets.UTF_8));
    }

    /** A slip of the pen in a reference must not lead to another content of the same task. */
    private static String check(String callId) {
        return Ids.hash(callId).substring(0, 8);
    }

    private static ToolException unavailable(@Nullable String why) {
        return new ToolException("content_unavailable", "The content cannot be read now: " + why);
    }

    private static ToolException unknown(String reference) {
        return new ToolException("unknown_reference", "There is no content \"" + reference + "\" for this task");
    }

    /** Why what is forgotten is not followed now, for people; empty = it is, or nobody has asked. */
    public Optional<String> problem() {
        return forgotten.problem();
    }

    @Override
    public void close() {
        forgotten.close();
        log.close();
        producer.close();
    }
}
