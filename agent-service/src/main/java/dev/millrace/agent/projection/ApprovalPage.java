package dev.millrace.agent.projection;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some open approvals, the one that has waited longest first.
 *
 * @param approvals may be fewer than asked for although there are more
 * @param next where the next page begins, for {@link ApprovalQuery#after}; {@code null} = this is the last page
 */
public record ApprovalPage(
        List<ApprovalView> approvals, @Nullable String next) {
    public ApprovalPage {
        approvals = List.copyOf(approvals);
    }
}
