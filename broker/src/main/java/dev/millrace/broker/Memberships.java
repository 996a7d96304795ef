package dev.millrace.broker;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import kafka.server.BrokerServer;
import org.apache.kafka.common.internals.Topic;
import org.apache.kafka.common.message.ListGroupsRequestData;
import org.apache.kafka.common.message.ListGroupsResponseData;
import org.apache.kafka.common.message.ShareGroupDescribeResponseData;
import org.apache.kafka.common.message.ShareGroupHeartbeatRequestData;
import org.apache.kafka.common.message.StreamsGroupDescribeResponseData;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.coordinator.group.Group.GroupType;
import org.apache.kafka.coordinator.group.GroupCoordinator;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;

/**
 * Who is in the groups of Streams applications and in share groups. A member that was killed stays in its group until
 * its session times out, and nobody gets its partitions before; here each can be taken out, as if it had said goodbye.
 */
final class Memberships {

    /** The epoch with which a member says that it leaves. */
    private static final int LEAVING = -1;

    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final Duration PAUSE = Duration.ofMillis(5);

    private final GroupCoordinator coordinator;
    private final int partitions;

    Memberships(BrokerServer broker) {
        coordinator = broker.groupCoordinator();
        partitions = broker.metadataCache()
                .numPartitions(Topic.GROUP_METADATA_TOPIC_NAME)
                .orElse(0);
    }

    /**
     * Takes all members out of all groups, and returns how many that were.
     *
     * @throws TimeoutException if the groups were not read within a few seconds
     */
    int endAll() throws ExecutionException, InterruptedException, TimeoutException {
        if (partitions == 0) {
            return 0; // nobody has ever been in one
        }
        for (int partition = 0; partition < partitions; partition++) {
            awaitLoaded(partition);
        }
        int ended = 0;
        for (ListGroupsResponseData.ListedGroup group : result(
                        coordinator.listGroups(context(ApiKeys.LIST_GROUPS), new ListGroupsRequestData()))
                .groups()) {
            ended += switch (GroupType.parse(group.groupType())) {
                case STREAMS -> endStreams(group.groupId());
                case SHARE -> endShare(group.groupId());
                case CONSUMER, CLASSIC, UNKNOWN -> 0;
            };
        }
        return ended;
    }

    /** Groups are divided into partitions, each of which is read in its own time after the start. */
    private void awaitLoaded(int partition) throws ExecutionException, InterruptedException, TimeoutException {
        String group = IntStream.iterate(0, i -> i + 1)
                .mapToObj(Integer::toString)
                .filter(name -> coordinator.partitionFor(name) == partition)
                .findFirst()
                .orElseThrow();
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (loading(streams(group))) {
            if (System.nanoTime() - deadline > 0) {
                throw new TimeoutException("the groups were not read within " + LIMIT);
            }
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        }
    }

    private static boolean loading(StreamsGroupDescribeResponseData.DescribedGroup group) {
        Errors error = Errors.forCode(group.errorCode());
        return error == Errors.COORDINATOR_LOAD_IN_PROGRESS
                || error == Errors.NOT_COORDINATOR
                || error == Errors.COORDINATOR_NOT_AVAILABLE;
    }

    private StreamsGroupDescribeResponseData.DescribedGroup streams(String group)
            throws ExecutionException, InterruptedException, TimeoutException {
        return result(coordinator.streamsGroupDescribe(context(ApiKeys.STREAMS_GROUP_DESCRIBE), List.of(group)))
                .getFirst();
    }

    private int endStreams(String group) throws ExecutionException, InterruptedException, TimeoutException {
        List<StreamsGroupDescribeResponseData.Member> members = streams(group).members();
        for (StreamsGroupDescribeResponseData.Member member : members) {
            result(coordinator.streamsGroupHeartbeat(
                    context(ApiKeys.STREAMS_GROUP_HEARTBEAT),
                    new StreamsGroupHeartbeatRequestData()
                            .setGroupId(group)
                            .setMemberId(member.memberId())
                            .setMemberEpoch(LEAVING)));
        }
        return members.size();
    }

    private int endShare(String group) throws ExecutionException, InterruptedException, TimeoutException {
        List<ShareGroupDescribeResponseData.Member> members = result(
                        coordinator.shareGroupDescribe(context(ApiKeys.SHARE_GROUP_DESCRIBE), List.of(group)))
                .getFirst()
                .members();
        for (ShareGroupDescribeResponseData.Member member : members) {
            result(coordinator.shareGroupHeartbeat(
                    context(ApiKeys.SHARE_GROUP_HEARTBEAT),
                    new ShareGroupHeartbeatRequestData()
                            .setGroupId(group)
                            .setMemberId(member.memberId())
                            .setMemberEpoch(LEAVING)));
        }
        return members.size();
    }

    /** As of a client on this machine, which is what the coordinator notes of it. */
    private static AuthorizableRequestContext context(ApiKeys request) {
        return new RequestContext(
                new RequestHeader(request, request.latestVersion(), "embedded-broker", 0),
                "",
                InetAddress.getLoopbackAddress(),
                KafkaPrincipal.ANONYMOUS,
                ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT),
                SecurityProtocol.PLAINTEXT,
                ClientInformation.EMPTY,
                false);
    }

    private static <T> T result(CompletableFuture<T> future)
            throws ExecutionException, InterruptedException, TimeoutException {
        return future.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    }
}
