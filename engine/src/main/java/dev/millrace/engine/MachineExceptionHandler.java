package dev.millrace.engine;

import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Topics;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.streams.errors.DeserializationExceptionHandler;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProcessingExceptionHandler;
import org.apache.kafka.streams.errors.ProductionExceptionHandler;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/**
 * What a machine does about exceptions that reach Kafka Streams: the last net under {@link UnitOfWork}. A record that
 * cannot be deserialized goes to the dead letters. One whose turn broke, and a request that the topic of a toolset does
 * not take (that topic is somebody else's, and may be narrower than ours, or closed), are put into the
 * {@link Quarantine}; the transaction fails, and is done again without them. Everything else is the fault of no record,
 * and fails. Streams makes it by its name, once for each of the three tasks.
 */
public final class MachineExceptionHandler
        implements ProductionExceptionHandler, ProcessingExceptionHandler, DeserializationExceptionHandler {

    /** Where it finds the topics among the settings of Streams. */
    static final String TOPICS = "millrace.topics";

    private Quarantine quarantine = new Quarantine();
    private @Nullable Topics topics;

    /** For Streams, which calls {@link #configure} next. */
    public MachineExceptionHandler() {}

    @Override
    public void configure(Map<String, ?> settings) {
        if (settings.get(Quarantine.CONFIG) instanceof Quarantine ofMachine) {
            quarantine = ofMachine;
        }
        if (settings.get(TOPICS) instanceof Topics ofInstallation) {
            topics = ofInstallation;
        }
    }

    @Override
    public ProductionExceptionHandler.Response handleError(
            ErrorHandlerContext context, ProducerRecord<byte[], byte[]> record, Exception exception) {
        if (exception instanceof RecordTooLargeException || exception instanceof RecordBatchTooLargeException) {
            quarantine.refuse(record.value(), ErrorCode.RECORD_TOO_LARGE, exception);
        } else if (exception instanceof TopicAuthorizationException) {
            quarantine.refuse(record.value(), ErrorCode.NOT_PRODUCED, exception);
        }
        return ProductionExceptionHandler.Response.fail();
    }

    @Override
    @SuppressWarnings("rawtypes") // so says the interface
    public ProductionExceptionHandler.Response handleSerializationError(
            ErrorHandlerContext context,
            ProducerRecord record,
            Exception exception,
            ProductionExceptionHandler.SerializationExceptionOrigin origin) {
        putAside(context, exception);
        return ProductionExceptionHandler.Response.fail();
    }

    @Override
    public ProcessingExceptionHandler.Response handleError(
            ErrorHandlerContext context, Record<?, ?> record, Exception exception) {
        boolean ofRecord = exception instanceof SerializationException
                || !(exception instanceof KafkaException || exception instanceof UnreadableRowException);
        if (ofRecord) {
            putAside(context, exception);
        }
        return ProcessingExceptionHandler.Response.fail();
    }

    @Override
    public DeserializationExceptionHandler.Response handleError(
            ErrorHandlerContext context, ConsumerRecord<byte[], byte[]> record, Exception exception) {
        Topics known = topics;
        return known == null
                ? DeserializationExceptionHandler.Response.fail()
                : DeserializationExceptionHandler.Response.resume(List.of(DeadLetters.deadLetter(
                        known, record, ErrorCode.NOT_A_CLOUD_EVENT.code(), String.valueOf(exception))));
    }

    private void putAside(ErrorHandlerContext context, Exception exception) {
        quarantine.add(context.topic(), context.partition(), context.offset(), exception);
    }
}
