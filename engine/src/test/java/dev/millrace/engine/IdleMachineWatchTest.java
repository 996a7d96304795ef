package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupMemberAssignment;
import org.apache.kafka.clients.admin.StreamsGroupMemberAssignment.TaskIds;
import org.apache.kafka.clients.admin.StreamsGroupMemberDescription;
import org.apache.kafka.clients.admin.StreamsGroupSubtopologyDescription;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.Node;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class IdleMachineWatchTest {

    private static final Map<String, Integer> TWO_PARTITIONS = Map.of("lane", 2);
    private static final Set<String> OWN = Set.of("own");

    @Test
    void shouldLeaveAMachineAloneIfOthersHaveEverything() {
        assertThat(judge(member("own", List.of(), List.of()), member("other", List.of(0, 1), List.of(0, 1))))
                .isEqualTo(IdleMachineWatch.Finding.WELL);
    }

    @Test
    void shouldLeaveAMachineAloneIfAnotherOneIsAboutToTakeWhatIsFree() {
        assertThat(judge(member("own", List.of(), List.of()), member("other", List.of(0), List.of(0, 1))))
                .isEqualTo(IdleMachineWatch.Finding.WELL);
    }

    @Test
    void shouldReplaceAMachineThatItsGroupHasForgotten() {
        assertThat(IdleMachineWatch.judge(null, TWO_PARTITIONS, OWN).curable()).isTrue();
        assertThat(judge(member("other", List.of(0, 1), List.of(0, 1))).curable())
                .isTrue();
        assertThat(judge().curable()).isTrue();
    }

    @Test
    void shouldReplaceAMachineIfAPartitionIsNobodys() {
        IdleMachineWatch.Finding finding =
                judge(member("own", List.of(), List.of()), member("other", List.of(0), List.of(0)));

        assertThat(finding.complaint()).isEqualTo("nobody has partition 0_1");
        assertThat(finding.curable()).isTrue();
    }

    @Test
    @DisplayName("a partition that another member keeps is named, and a new machine would wait for it all the same")
    void shouldSayWhoKeepsAPartition() {
        IdleMachineWatch.Finding finding =
                judge(member("own", List.of(), List.of(1)), member("other", List.of(0, 1), List.of(0)));

        assertThat(finding.complaint()).isEqualTo("partition 0_1 is for it, and other has not given it back");
        assertThat(finding.curable()).isFalse();
    }

    @Test
    @DisplayName("one of two threads, whose place in the group is gone while the other has its partition")
    void shouldReplaceAMachineOfWhichAThreadIsForgotten() {
        StreamsGroupDescription group = group(member("own", List.of(0), List.of(0)));

        assertThat(IdleMachineWatch.judge(group, TWO_PARTITIONS, Set.of("own of another thread"))
                        .curable())
                .isTrue();
    }

    private static IdleMachineWatch.Finding judge(StreamsGroupMemberDescription... members) {
        return IdleMachineWatch.judge(group(members), TWO_PARTITIONS, OWN);
    }

    private static StreamsGroupDescription group(StreamsGroupMemberDescription... members) {
        return new StreamsGroupDescription(
                "group",
                7,
                7,
                0,
                List.of(new StreamsGroupSubtopologyDescription("0", List.of("lane"), List.of(), Map.of(), Map.of())),
                List.of(members),
                GroupState.STABLE,
                Node.noNode(),
                Set.of());
    }

    private static StreamsGroupMemberDescription member(String client, List<Integer> has, List<Integer> target) {
        return new StreamsGroupMemberDescription(
                "member of " + client,
                7,
                Optional.empty(),
                Optional.empty(),
                client,
                "host",
                0,
                "process of " + client,
                Optional.empty(),
                Map.of(),
                List.of(),
                List.of(),
                assignment(has),
                assignment(target),
                false);
    }

    private static StreamsGroupMemberAssignment assignment(List<Integer> partitions) {
        return new StreamsGroupMemberAssignment(List.of(new TaskIds("0", partitions)), List.of(), List.of());
    }
}
