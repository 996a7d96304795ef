package dev.millrace.agent.projection;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.kafka.TopicId;
import dev.millrace.kafka.TopicIdentity;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which journal the projection's store was built from: written beside it, since its offsets say nothing about another
 * one. For one thread.
 */
final class ProjectedJournal implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(TaskProjection.class);

    private final TopicIdentity identity;
    private final Path file;

    /** Reads nothing yet; the file need not be there. */
    ProjectedJournal(TopicIdentity identity, Path file) {
        this.identity = identity;
        this.file = file;
    }

    /** The journal as it is now; empty if it is not there, or the brokers do not say. */
    Optional<TopicId> now() throws InterruptedException {
        return identity.lately();
    }

    /**
     * Why a store that is there cannot be used for this journal, for people; empty = it can.
     *
     * @throws UncheckedIOException if the disk does not answer
     */
    Optional<String> objection(TopicId journal) {
        try {
            TopicId before = Json.MAPPER.readValue(Files.readAllBytes(file), TopicId.class);
            return before.equals(journal) ? Optional.empty() : Optional.of(before.changedInto(journal));
        } catch (NoSuchFileException e) {
            return Optional.of("it is not known from which journal it was built");
        } catch (JsonProcessingException e) {
            return Optional.of("the file that says from which journal it was built cannot be read");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * From now on the store is built from this journal. At once or not at all, whenever the process ends.
     *
     * @throws UncheckedIOException if it cannot be written
     */
    void is(TopicId journal) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Path next = file.resolveSibling(file.getFileName() + ".new");
            Files.write(next, Json.write(journal));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        LOGGER.atDebug().addKeyValue("journal", journal).log("The projection is built from this journal");
    }

    @Override
    public void close() {
        identity.close();
    }
}
