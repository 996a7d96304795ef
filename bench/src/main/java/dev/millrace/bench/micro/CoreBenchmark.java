package dev.millrace.bench.micro;

import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Transition;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** What the machine costs: {@link dev.millrace.agent.core.TaskFsm#transition} and nothing around it. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class CoreBenchmark {

    /** How many tools the model calls at once. */
    @Param({"1", "32"})
    public int calls = 1;

    private UsualTask task = UsualTask.withToolCalls(calls);
    private UsualTask.Move reply = task.first(TaskEvent.ModelReplied.class);
    private UsualTask.Move result = task.first(TaskEvent.ToolReturned.class);

    /** Takes the task of so many calls. */
    @Setup
    public void setUp() {
        task = UsualTask.withToolCalls(calls);
        reply = task.first(TaskEvent.ModelReplied.class);
        result = task.first(TaskEvent.ToolReturned.class);
    }

    /** A whole task: input, admission, tool calls, their results, answer. */
    @Benchmark
    public TaskState wholeTask(Blackhole effects) {
        TaskState state = TaskState.ABSENT;
        for (UsualTask.Move move : task.moves()) {
            Transition transition = UsualTask.MACHINE.transition(state, move.event());
            effects.consume(transition.effects());
            state = transition.next();
        }
        return state;
    }

    /** The model asks for all of the tool calls. */
    @Benchmark
    public Transition replyWithToolCalls() {
        return UsualTask.MACHINE.transition(reply.before(), reply.event());
    }

    /** The first of the tool calls returns. */
    @Benchmark
    public Transition toolResult() {
        return UsualTask.MACHINE.transition(result.before(), result.event());
    }
}
