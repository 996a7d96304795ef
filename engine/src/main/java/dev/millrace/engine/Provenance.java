package dev.millrace.engine;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.TopicListing;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Of which cluster, and of which changelogs there, the state on this disk is a copy: written beside it, and compared
 * before a machine starts and while it runs. Kafka Streams compares offsets only, and takes those of one cluster for
 * those of another. For one thread.
 */
final class Provenance {

    private static final Logger LOGGER = LoggerFactory.getLogger(MachineRunner.class);
    private static final int ANSWER_MS = 5_000;
    private static final String CHANGELOG = "-changelog";

    /** The brokers are asked so often at most, while the machine runs. */
    private static final Duration SPACING = Duration.ofSeconds(30);
    /** The state of a task, as Streams calls its folder. */
    private static final Pattern TASK = Pattern.compile("\\d+_\\d+");

    private final ClientSettings kafka;
    private final String applicationId;
    private final Path stateDir;
    private final Path file;
    private boolean noted;
    private long askedAtNanos;

    /**
     * What is written.
     *
     * @param cluster the id of the cluster
     * @param changelogs the ids of the changelogs, by name
     */
    record Origin(
            @JsonProperty("cluster") String cluster,
            @JsonProperty("changelogs") Map<String, String> changelogs) {
        Origin(String cluster, @Nullable Map<String, String> changelogs) {
            this.cluster = cluster;
            this.changelogs = changelogs == null ? Map.of() : Map.copyOf(changelogs);
        }

        /** The same with these changelogs only. */
        Origin only(Set<String> names) {
            return new Origin(
                    cluster,
                    changelogs.entrySet().stream()
                            .filter(changelog -> names.contains(changelog.getKey()))
                            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
        }
    }

    /** What is to be done with the state on this disk. */
    sealed interface Verdict {

        /** It is what it was, or there was none. */
        record Fits() implements Verdict {}

        /**
         * It is a copy of what another cluster has, and of no use here.
         *
         * @param reason for people
         */
        record Elsewhere(String reason) implements Verdict {}

        /**
         * What it is a copy of is gone: it may be the only one.
         *
         * @param reason for people, with what to do
         */
        record Orphaned(String reason) implements Verdict {}
    }

    /** Connects when it is asked; {@code kafka} says how to reach the brokers. */
    Provenance(ClientSettings kafka, String applicationId, Path stateDir) {
        this.kafka = kafka.with(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_MS)
                .with(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_MS);
        this.applicationId = applicationId;
        this.stateDir = stateDir;
        this.file = stateDir.resolve(applicationId + ".origin.json");
    }

    /**
     * Compares what is written with what the brokers have, before the machine starts. If it fits, the cluster is
     * written then; if not, all stays as it is written until the state is gone and this was asked again. So state of
     * another cluster is known as that after each restart, wherever the process ended while it was deleted.
     *
     * @throws KafkaException if they do not answer
     * @throws UncheckedIOException if the disk does not
     */
    Verdict beforeStart() throws InterruptedException {
        try (Admin admin = Admin.create(kafka.values())) {
            Origin found = found(admin);
            Optional<Origin> written = written();
            Verdict verdict = hasState() ? judge(written, found, file) : new Verdict.Fits();
            if (verdict instanceof Verdict.Fits) {
                Set<String> kept = written.filter(before -> before.cluster().equals(found.cluster()))
                        .map(before -> before.changelogs().keySet())
                        .orElse(Set.of());
                write(found.only(kept));
            }
            return verdict;
        }
    }

    /**
     * The same while it runs, when the time has come. What is written then are the changelogs that the machine has now.
     *
     * @param ready whether the machine has its stores
     * @return what fits if there was nothing to ask, or no answer
     */
    Verdict whileRunning(boolean ready) throws InterruptedException {
        long now = System.nanoTime();
        if (!ready || (noted && now - askedAtNanos < SPACING.toNanos())) {
            return new Verdict.Fits();
        }
        askedAtNanos = now;
        try (Admin admin = Admin.create(kafka.values())) {
            Set<String> used = used(admin);
            if (used.isEmpty()) {
                return new Verdict.Fits(); // the brokers have forgotten the group, or do not know it yet
            }
            Origin found = found(admin);
            Verdict verdict = judge(written().map(before -> before.only(used)), found, file);
            if (verdict instanceof Verdict.Fits) {
                write(found.only(used));
                noted = true;
            }
            return verdict;
        } catch (KafkaException | UncheckedIOException e) {
            LOGGER.atDebug().setCause(e).log("What local state is a copy of could not be looked at");
            return new Verdict.Fits();
        }
    }

    private boolean hasState() {
        Path folder = stateDir.resolve(applicationId);
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> tasks = Files.list(folder)) {
            return tasks.anyMatch(
                    task -> TASK.matcher(task.getFileName().toString()).matches());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Verdict judge(Optional<Origin> written, Origin found, Path file) {
        if (written.isEmpty()) {
            return new Verdict.Fits();
        }
        Origin before = written.get();
        if (!before.cluster().equals(found.cluster())) {
            return new Verdict.Elsewhere(
                    "it is of the cluster " + before.cluster() + ", this one is " + found.cluster());
        }
        for (Map.Entry<String, String> changelog : new TreeMap<>(before.changelogs()).entrySet()) {
            String id = found.changelogs().get(changelog.getKey());
            if (!changelog.getValue().equals(id)) {
                return new Verdict.Orphaned(
                        "expected the topic " + changelog.getKey() + " with the id "
                                + changelog.getValue() + ", of which the state beside " + file + " is a copy, found "
                                + (id == null ? "none" : "one that was made later (" + id + ")")
                                + ": the rows here may be the only ones left. What to do: keep a copy of that folder; to go on"
                                + " without what only it has, such as tasks that were under way, delete the folder and start again");
            }
        }
        return new Verdict.Fits();
    }

    private Optional<Origin> written() {
        try {
            return Optional.of(Json.MAPPER.readValue(Files.readAllBytes(file), Origin.class));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (JsonProcessingException e) {
            LOGGER.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("cause", e.toString())
                    .log(
                            "What the state beside this file is a copy of cannot be read; it is taken for that of this cluster");
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** At once or not at all, whenever the process ends. */
    private void write(Origin origin) {
        if (Optional.of(origin).equals(written())) {
            return;
        }
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Path next = file.resolveSibling(file.getFileName() + ".new");
            Files.write(next, Json.write(origin));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All changelogs that are there, also those of other versions. */
    private Origin found(Admin admin) throws InterruptedException {
        Map<String, String> changelogs = new HashMap<>();
        for (TopicListing topic : get(admin.listTopics().listings())) {
            if (topic.name().startsWith(applicationId + '-') && topic.name().endsWith(CHANGELOG)) {
                changelogs.put(topic.name(), topic.topicId().toString());
            }
        }
        return new Origin(get(admin.describeCluster().clusterId()), changelogs);
    }

    /** The changelogs of the machine as it is now. */
    private Set<String> used(Admin admin) throws InterruptedException {
        return get(admin.describeStreamsGroups(Set.of(applicationId)).all()).values().stream()
                .flatMap(group -> group.subtopologies().stream())
                .flatMap(subtopology -> subtopology.stateChangelogTopics().keySet().stream())
                .collect(Collectors.toUnmodifiableSet());
    }

    private static <T> T get(KafkaFuture<T> future) throws InterruptedException {
        try {
            return future.get(2L * ANSWER_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new KafkaException("the brokers do not say of what the state is a copy: " + e.getMessage(), e);
        }
    }
}
