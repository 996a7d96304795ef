package dev.millrace.reflection.topology;

import dev.millrace.engine.ModelCalls;
import java.util.ArrayList;
import java.util.List;

/** Takes model calls as the reflector would, and makes none: the test answers. */
final class RecordedCalls implements ModelCalls<ReflectionCall> {

    final List<ReflectionCall> requested = new ArrayList<>();
    final List<ReflectionCall> settled = new ArrayList<>();

    @Override
    public void request(int partition, ReflectionCall call) {
        requested.add(call);
    }

    @Override
    public void fence(int partition, String value) {}

    @Override
    public void settle(ReflectionCall call) {
        settled.add(call);
    }
}
