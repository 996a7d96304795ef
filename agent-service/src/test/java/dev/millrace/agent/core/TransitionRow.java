package dev.millrace.agent.core;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One line of a table test: in this state, on this event, exactly this, but for the context window, which is what {@link
 * TaskFsmCompactionTest} is about. Shows as its name.
 */
record TransitionRow(String name, MachineLimits limits, TaskState state, TaskEvent event, Transition expected) {

    static TransitionRow row(String name, TaskState state, TaskEvent event, TaskState next, Effect... effects) {
        return row(name, TaskLimits.DEFAULT, state, event, next, effects);
    }

    static TransitionRow row(
            String name, TaskLimits limits, TaskState state, TaskEvent event, TaskState next, Effect... effects) {
        return new TransitionRow(
                name,
                MachineLimits.of(limits),
                TaskBuilder.limited(state, limits),
                event,
                Transition.to(TaskBuilder.limited(next, limits), effects));
    }

    /** The event changes nothing, for this reason. */
    static TransitionRow discard(String name, TaskState state, TaskEvent event, DiscardReason why) {
        return row(name, state, event, state, new Effect.Discard(event.meta().eventId(), why));
    }

    void check() {
        // when
        Transition transition = new TaskFsm(limits).transition(state, event);

        // then
        assertThat(new Transition(TaskBuilder.withoutWindow(transition.next()), transition.effects()))
                .isEqualTo(expected);
    }

    @Override
    public String toString() {
        return name;
    }
}
