package dev.millrace.agent.topology;

import dev.millrace.engine.ModelCalls;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes model calls as the thinker would, and makes none: the test answers. */
final class RecordedModelCalls implements ModelCalls<OutstandingCall> {

    final List<OutstandingCall> requested = new ArrayList<>();
    final List<OutstandingCall> settled = new ArrayList<>();
    final List<String> fences = new ArrayList<>();

    /** What the model has said so far, to whichever call. */
    @Nullable
    String said;

    @Override
    public @Nullable String saidSoFar(OutstandingCall call) {
        return said;
    }

    @Override
    public void request(int partition, OutstandingCall call) {
        requested.add(call);
    }

    @Override
    public void fence(int partition, String value) {
        fences.add(value);
    }

    @Override
    public void settle(OutstandingCall call) {
        settled.add(call);
    }

    OutstandingCall last() {
        return requested.getLast();
    }
}
