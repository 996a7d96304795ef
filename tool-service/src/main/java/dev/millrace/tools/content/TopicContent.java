package dev.millrace.tools.content;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.schemas.ForgottenSet;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Topics;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.kafka.ForgottenReader;
import dev.millrace.tools.kafka.TopicClients;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Contents on the topic {@code content}: first the pieces, each a record, then a record that says where they lie and who
 * may read them. The reference is the place of the latter, so that a page costs two reads wherever it lies in the content.
 * What is read is checked to be what was looked for: a piece is never taken for an index, whatever a tool put into it.
 */
public final class TopicContent implements ContentStore, AutoCloseable {

    /** How large a piece is, in bytes. */
    static final int PIECE_BYTES = 500_000;

    private static final String KIND = "millrace-content";
    private static final String PIECE = "piece";
    private static final String INDEX = "index";
    private static final Pattern REFERENCE = Pattern.compile("content-(\\d{1,9})-(\\d{1,18})-([0-9a-f]{8})");
    private static final Duration POLL = Duration.ofMillis(500);

    private final Topics topics;
    private final TopicClients clients;
    private final ForgottenReader forgotten;

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
    public TopicContent(Map<String, Object> kafka, Topics topics) {
        this.clients = new TopicClients(kafka, 1);
        this.forgotten = new ForgottenReader(kafka, topics);
        this.topics = topics;
    }

    @Override
    public String put(Owner owner, String callId, byte[] content, String contentType)
            throws UnavailableException, InterruptedException {
        try {
            KafkaProducer<String, byte[]> out = clients.producer();
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int from = 0; from < content.length; from += PIECE_BYTES) {
                byte[] piece = Arrays.copyOfRange(content, from, Math.min(from + PIECE_BYTES, content.length));
                sent.add(out.send(message(callId, PIECE, piece)));
            }
            List<Place> pieces = new ArrayList<>();
            for (Future<RecordMetadata> acknowledged : sent) {
                RecordMetadata place = acknowledged.get();
                pieces.add(new Place(place.partition(), place.offset()));
            }
            Index index = new Index(
                    owner.namespace(),
                    owner.taskId(),
                    owner.sessionId(),
                    contentType,
                    content.length,
                    PIECE_BYTES,
                    pieces);
            RecordMetadata place =
                    out.send(message(callId, INDEX, Json.write(index))).get();
            return "content-" + place.partition() + "-" + place.offset() + "-" + check(callId);
        } catch (ExecutionException e) {
            throw new UnavailableException(String.valueOf(e.getCause()), e);
        } catch (InterruptException e) {
            throw TopicClients.interrupted(e);
        } catch (KafkaException e) {
            throw new UnavailableException(String.valueOf(e.getMessage()), e);
        }
    }

    private ProducerRecord<String, byte[]> message(String callId, String kind, byte[] value) {
        ProducerRecord<String, byte[]> message = new ProducerRecord<>(topics.content(), callId, value);
        message.headers().add(KIND, kind.getBytes(StandardCharsets.UTF_8));
        return message;
    }

    @Override
    public Slice read(Owner reader, String reference, long offset, int length)
            throws ToolException, InterruptedException {
        Matcher parts = REFERENCE.matcher(reference);
        if (!parts.matches()) {
            throw unknown(reference);
        }
        Place place = new Place(Integer.parseInt(parts.group(1)), Long.parseLong(parts.group(2)));
        try {
            ForgottenSet gone = forgotten.upToNow();
            return clients.read(in -> {
                ConsumerRecord<String, byte[]> found = fetch(in, place);
                if (found == null
                        || !isKind(found, INDEX)
                        || !check(found.key()).equals(parts.group(3))) {
                    throw unknown(reference);
                }
                Index index = indexIn(found);
                if (!reader.mayRead(index.owner()) || index.isIn(gone, found.timestamp())) {
                    throw unknown(reference); // the same words, so that nobody learns what there is
                }
                return new Slice(
                        bytes(in, index, found.key(), offset, length), index.totalBytes(), index.contentType());
            });
        } catch (OffsetOutOfRangeException e) {
            throw new ToolException("content_gone", "The content \"" + reference + "\" is no longer kept");
        } catch (KafkaException e) {
            throw unavailable(e.getMessage());
        }
    }

    private static Index indexIn(ConsumerRecord<String, byte[]> found) throws ToolException {
        try {
            return Json.MAPPER.readValue(found.value(), Index.class);
        } catch (IOException e) {
            throw unavailable(e.getMessage());
        }
    }

    private byte[] bytes(KafkaConsumer<String, byte[]> in, Index index, String key, long offset, int length)
            throws ToolException {
        long end = Math.min(index.totalBytes(), offset + length);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long at = offset;
        while (at < end) {
            int number = (int) (at / index.pieceBytes());
            ConsumerRecord<String, byte[]> piece = fetch(in, index.pieces().get(number));
            if (piece == null || !isKind(piece, PIECE) || !key.equals(piece.key())) {
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

    /** The record at this place; {@code null} if there is none yet. */
    private @Nullable ConsumerRecord<String, byte[]> fetch(KafkaConsumer<String, byte[]> in, Place place) {
        TopicPartition partition = new TopicPartition(topics.content(), place.partition());
        if (in.partitionsFor(topics.content(), TopicClients.READ_LIMIT).stream()
                .noneMatch(info -> info.partition() == place.partition())) {
            return null;
        }
        in.assign(List.of(partition));
        Long end = in.endOffsets(List.of(partition), TopicClients.READ_LIMIT).get(partition);
        if (end == null || place.offset() >= end) {
            return null;
        }
        in.seek(partition, place.offset());
        long deadline = System.nanoTime() + TopicClients.READ_LIMIT.toNanos();
        while (System.nanoTime() - deadline < 0) {
            for (ConsumerRecord<String, byte[]> found : in.poll(POLL)) {
                // past a place that holds no record, the next one is given
                return found.offset() == place.offset() && found.key() != null && found.value() != null ? found : null;
            }
        }
        throw new KafkaException("no answer within " + TopicClients.READ_LIMIT.toSeconds() + " s");
    }

    private static boolean isKind(ConsumerRecord<String, byte[]> found, String kind) {
        Header header = found.headers().lastHeader(KIND);
        return header != null
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

    @Override
    public void close() {
        forgotten.close();
        clients.close();
    }
}
