package dev.millrace.testkit;

import java.util.List;
import org.assertj.core.api.AbstractAssert;

/** What a test expects of a task that was played again; {@code assertThat(replay)} of AssertJ gives it. */
public final class ReplayAssert extends AbstractAssert<ReplayAssert, TestReplay> {

    ReplayAssert(TestReplay replay) {
        super(replay, ReplayAssert.class);
    }

    /** Today's machine and agents decide what the journal says, in all steps. */
    public ReplayAssert decidesTheSame() {
        List<String> partings = actual.partings();
        if (!partings.isEmpty()) {
            failWithMessage(
                    "Expected the decisions of the journal of task %s, found others:%n  %s",
                    actual.taskId(), String.join("\n  ", partings));
        }
        return this;
    }
}
