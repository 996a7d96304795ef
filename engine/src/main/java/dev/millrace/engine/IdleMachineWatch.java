package dev.millrace.engine;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Backoff;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupMemberAssignment;
import org.apache.kafka.clients.admin.StreamsGroupMemberDescription;
import org.apache.kafka.clients.admin.StreamsGroupSubtopologyDescription;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.streams.processor.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Finds out why a thread of a machine that runs has no task. Mostly because there are more of them than partitions,
 * which is well. But a group may also have forgotten one, or leave partitions to nobody, and the machine does not
 * notice: it says that it runs, and nothing is read. For one thread.
 */
final class IdleMachineWatch {

    /** Brokers are asked so often at most, while a machine has nothing to do. */
    private static final Duration SPACING = Duration.ofSeconds(15);
    /** So often in a row it has to look wrong: partitions are nobody's for a moment whenever they move. */
    private static final int LOOKS = 2;

    private static final Duration FIRST_PAUSE = Duration.ofMinutes(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

    private final ClientSettings kafka;
    private long lastLook;
    private boolean looked;
    private int wrong;
    private long notBefore = System.nanoTime();
    private final Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, "idle machine");
    private int failures;
    private volatile @Nullable String complaint;

    IdleMachineWatch(ClientSettings kafka) {
        this.kafka = kafka;
    }

    /**
     * Why a thread has no task.
     *
     * @param complaint what is wrong, for people; absent = nothing
     * @param curable whether a new machine, which joins the group anew, may put it right
     */
    record Finding(@Nullable String complaint, boolean curable) {
        static final Finding WELL = new Finding(null, false);
    }

    /** What is wrong with a machine of which a thread has no task; empty if nothing is, or all have some. */
    Optional<String> complaint() {
        return Optional.ofNullable(complaint);
    }

    /**
     * Looks at a machine, which costs nothing while its threads have tasks, and little otherwise. To be called every
     * few seconds.
     *
     * @return whether a new machine should take its place
     */
    boolean shouldBeReplaced(MachineStreams machine) throws InterruptedException {
        Set<String> idle = machine.idleClients();
        if (idle.isEmpty()) {
            complaint = null;
            wrong = 0;
            looked = false;
            if (machine.ready()) {
                failures = 0;
                notBefore = System.nanoTime();
            }
            return false;
        }
        long now = System.nanoTime();
        if (looked && now - lastLook < SPACING.toNanos()) {
            return false;
        }
        looked = true;
        lastLook = now;
        Finding finding = ask(machine.group(), idle);
        if (finding == null) {
            return false;
        }
        complaint = finding.complaint();
        wrong = finding.curable() ? wrong + 1 : 0;
        if (wrong < LOOKS || now - notBefore < 0) {
            return false;
        }
        notBefore = now + backoff.after(++failures, null).toNanos();
        wrong = 0;
        looked = false;
        return true;
    }

    /** What the brokers say about clients of a machine that have no task; absent if they do not answer. */
    @Nullable
    Finding ask(String groupId, Set<String> clients) throws InterruptedException {
        try (Admin admin = Admin.create(kafka.values())) {
            StreamsGroupDescription group = describe(admin, groupId);
            Map<String, Integer> partitions = group == null ? Map.of() : partitions(admin, group);
            return judge(group, partitions, clients);
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            return null; // others say that brokers do not answer
        }
    }

    private static @Nullable StreamsGroupDescription describe(Admin admin, String group)
            throws InterruptedException, ExecutionException, TimeoutException {
        try {
            return admin.describeStreamsGroups(List.of(group))
                    .all()
                    .get(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                    .get(group);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GroupIdNotFoundException) {
                return null;
            }
            throw e;
        }
    }

    private static Map<String, Integer> partitions(Admin admin, StreamsGroupDescription group)
            throws InterruptedException, ExecutionException, TimeoutException {
        Set<String> sources = Set.copyOf(group.subtopologies().stream()
                .flatMap(subtopology -> subtopology.sourceTopics().stream())
                .toList());
        Map<String, Integer> counts = new HashMap<>();
        Map<String, TopicDescription> topics =
                admin.describeTopics(sources).allTopicNames().get(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        topics.forEach((name, topic) -> counts.put(name, topic.partitions().size()));
        return counts;
    }

    /**
     * Why threads of a machine have no task.
     *
     * @param group as the brokers know it; absent if they do not
     * @param partitions of the topics that it reads, by name
     * @param clients the ids of the clients with which they are in the group
     */
    static Finding judge(
            @Nullable StreamsGroupDescription group, Map<String, Integer> partitions, Set<String> clients) {
        if (group == null) {
            return new Finding("the brokers do not know its group", true);
        }
        List<StreamsGroupMemberDescription> own = group.members().stream()
                .filter(member -> clients.contains(member.clientId()))
                .toList();
        Set<String> known =
                own.stream().map(StreamsGroupMemberDescription::clientId).collect(Collectors.toSet());
        if (!known.containsAll(clients)) {
            return new Finding("the brokers do not count it to its group", true);
        }
        for (TaskId task : tasks(group.subtopologies(), partitions)) {
            Optional<StreamsGroupMemberDescription> holder = having(group.members(), task, false);
            Optional<StreamsGroupMemberDescription> meant = having(group.members(), task, true);
            boolean ours = meant.filter(own::contains).isPresent();
            if (holder.isEmpty() && (ours || meant.isEmpty())) {
                return new Finding("nobody has partition " + task, true);
            }
            if (ours && holder.isPresent() && !own.contains(holder.get())) {
                return new Finding(
                        "partition " + task + " is for it, and " + holder.get().clientId() + " has not given it back",
                        false);
            }
        }
        return Finding.WELL;
    }

    private static List<TaskId> tasks(
            Collection<StreamsGroupSubtopologyDescription> subtopologies, Map<String, Integer> partitions) {
        return subtopologies.stream()
                .flatMap(subtopology -> {
                    int count = subtopology.sourceTopics().stream()
                            .mapToInt(topic -> partitions.getOrDefault(topic, 0))
                            .max()
                            .orElse(0);
                    return Stream.iterate(0, partition -> partition < count, partition -> partition + 1)
                            .map(partition -> new TaskId(Integer.parseInt(subtopology.subtopologyId()), partition));
                })
                .toList();
    }

    private static Optional<StreamsGroupMemberDescription> having(
            Collection<StreamsGroupMemberDescription> members, TaskId task, boolean target) {
        return members.stream()
                .filter(member -> has(target ? member.targetAssignment() : member.assignment(), task))
                .findFirst();
    }

    private static boolean has(StreamsGroupMemberAssignment assignment, TaskId task) {
        return assignment.activeTasks().stream()
                .anyMatch(ids -> ids.subtopologyId().equals(Integer.toString(task.subtopology()))
                        && ids.partitions().contains(task.partition()));
    }
}
