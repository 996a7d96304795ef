package dev.millrace.agent.projection;

import dev.millrace.agent.projection.UsageQuery.Dimension;
import dev.millrace.api.UsageSums;
import java.util.List;

/**
 * What was used.
 *
 * @param from when the first hour begins that is in the sums, in Unix milliseconds; the hour of {@link #to} if none is
 * @param to when the last one ends
 * @param groupBy what the groups are told apart by
 * @param groups in the order of their names; none without use
 * @param total of all groups together
 */
public record UsageReport(long from, long to, List<Dimension> groupBy, List<Group> groups, UsageSums total) {

    public UsageReport {
        groupBy = List.copyOf(groupBy);
        groups = List.copyOf(groups);
    }

    /**
     * What one group used.
     *
     * @param names one per dimension; empty = not known, or none. Hours and days are RFC 3339 in UTC
     */
    public record Group(List<String> names, UsageSums sums) {
        public Group {
            names = List.copyOf(names);
        }
    }
}
