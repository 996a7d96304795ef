package dev.millrace.agent.core;

import static dev.millrace.schemas.KnownEventType.APPROVAL_DECIDED;
import static dev.millrace.schemas.KnownEventType.APPROVAL_REQUESTED;
import static dev.millrace.schemas.KnownEventType.CONTEXT_COMPACTED;
import static dev.millrace.schemas.KnownEventType.MESSAGE_RECEIVED;
import static dev.millrace.schemas.KnownEventType.MODEL_CALL_FAILED;
import static dev.millrace.schemas.KnownEventType.NEED_MORE_INFO;
import static dev.millrace.schemas.KnownEventType.REASON_DONE;
import static dev.millrace.schemas.KnownEventType.SCHEDULE_FIRED;
import static dev.millrace.schemas.KnownEventType.STEP_COMPLETED;
import static dev.millrace.schemas.KnownEventType.TASK_CANCELLED;
import static dev.millrace.schemas.KnownEventType.TASK_CANCEL_REQUESTED;
import static dev.millrace.schemas.KnownEventType.TASK_COMPLETED;
import static dev.millrace.schemas.KnownEventType.TASK_CREATED;
import static dev.millrace.schemas.KnownEventType.TASK_FAILED;
import static dev.millrace.schemas.KnownEventType.TASK_NOTIFY;
import static dev.millrace.schemas.KnownEventType.TASK_RESUMED;
import static dev.millrace.schemas.KnownEventType.TASK_SUSPENDED;
import static dev.millrace.schemas.KnownEventType.TOOL_CALL_COMPLETED;
import static dev.millrace.schemas.KnownEventType.TOOL_CALL_FAILED;
import static dev.millrace.schemas.KnownEventType.WEBHOOK_TRIGGERED;
import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.agent.core.DeclaredMoves.Move;
import dev.millrace.agent.core.Effect.Discard;
import dev.millrace.agent.core.Samples.Outcome;
import dev.millrace.api.MachineView;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** {@code docs/task-lifecycle.md}, from the machine's own answers and the Javadoc of its types. */
final class LifecycleDocument {

    private static final Map<Class<? extends TaskEvent>, List<KnownEventType>> EVENT_TYPES = Map.ofEntries(
            Map.entry(TaskEvent.InputReceived.class, List.of(MESSAGE_RECEIVED, WEBHOOK_TRIGGERED, SCHEDULE_FIRED)),
            Map.entry(TaskEvent.Admitted.class, List.of()),
            Map.entry(TaskEvent.TimePassed.class, List.of()),
            Map.entry(TaskEvent.ChildEnded.class, List.of()),
            Map.entry(TaskEvent.TaskCreated.class, List.of(TASK_CREATED)),
            Map.entry(TaskEvent.ModelReplied.class, List.of(REASON_DONE)),
            Map.entry(TaskEvent.Summarised.class, List.of(CONTEXT_COMPACTED)),
            Map.entry(TaskEvent.QuestionAsked.class, List.of(NEED_MORE_INFO)),
            Map.entry(TaskEvent.ModelCallFailed.class, List.of(MODEL_CALL_FAILED)),
            Map.entry(TaskEvent.StepCompleted.class, List.of(STEP_COMPLETED)),
            Map.entry(TaskEvent.ToolReturned.class, List.of(TOOL_CALL_COMPLETED, TOOL_CALL_FAILED)),
            Map.entry(TaskEvent.ApprovalDecided.class, List.of(APPROVAL_DECIDED)),
            Map.entry(TaskEvent.TaskSuspended.class, List.of(TASK_SUSPENDED)),
            Map.entry(TaskEvent.TaskResumed.class, List.of(TASK_RESUMED)),
            Map.entry(TaskEvent.CancelRequested.class, List.of(TASK_CANCEL_REQUESTED)),
            Map.entry(TaskEvent.FailureDeclared.class, List.of(TASK_FAILED)));

    private static final List<String> UNFINISHED = List.of("Idle", "Reasoning", "Compacting", "Acting", "Suspended");

    private final List<Outcome> outcomes;
    private final StringBuilder text = new StringBuilder();

    private LifecycleDocument(List<Outcome> outcomes) {
        this.outcomes = outcomes;
    }

    static String of(List<Outcome> outcomes) {
        return new LifecycleDocument(outcomes).write();
    }

    /**
     * {@code task-machine.json}: the states with their names on the wire, and the declared moves, which {@code
     * TaskFsmTableTest} holds to be those that the machine makes.
     */
    static String machine() {
        MachineView view = new MachineView(
                states().map(state -> new MachineView.State(
                                labelOf(state),
                                state,
                                kinds(TaskState.Ended.class).anyMatch(state::equals) || state.equals("Completed"),
                                SourceText.sentenceAbout("TaskState", state)))
                        .toList(),
                DeclaredMoves.ALL.stream()
                        .map(move -> new MachineView.Move(
                                labelOf(move.from()),
                                labelOf(move.to()),
                                move.event(),
                                wireNames(move.event()).toList(),
                                move.when()))
                        .toList());
        try {
            return Json.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(view) + '\n';
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    private String write() {
        text.append("""
                # The life of a task

                A task is a small state machine. An event comes in, the machine answers with the next state and with what is to be
                done because of it, and both are written in one transaction. It has an answer for every state and every event: what
                has no business in a state is *discarded*, with a reason, and changes nothing. So a reply may come late, twice, or
                after a crash.

                This page is generated from the machine by `TaskFsmTableTest`, which fails when it is stale. To write it again:

                ```
                ./mvnw test -pl agent-service -am -Dtest=TaskFsmTableTest -Dsurefire.failIfNoSpecifiedTests=false -Dmillrace.docs.write=true
                ```

                ## The picture

                """);
        picture();
        text.append("""

                Not drawn: events that leave the state as it is. While a task is acting, each result but the last does; while it is
                suspended, replies and results are kept until it goes on, so nothing that was paid for is asked for twice.

                *Admitted* and *TimePassed* are no events on any topic. A task that has a reason to go on (a start, an answer, a
                decision, a resume) first asks for a place and is admitted when its turn has come: a suspended task holds none.
                Whatever a task waits for has a deadline; when the first one is reached, the machine is told that time has passed,
                and makes up the answer that did not come. After an outage it first gives those whom it asked their time once more.

                A conversation that is about to fill the model's context window is *compacted* before the next model call: the
                model first sums up the older part, and from then on is shown the summary in its place. The cut is made where no
                tool call is parted from its result, and the newest turns are kept word for word. If the provider says
                that a conversation is too long, it is compacted once and the call is made again, in the same iteration.

                ## An example

                Someone asks for papers about AI agents; the model searches once and answers.

                """);
        example();
        text.append("\n## States\n\n");
        table(
                List.of("state", "in events", "meaning"),
                states().map(state ->
                        List.of(state, code(labelOf(state)), SourceText.sentenceAbout("TaskState", state))));
        text.append("\n## Events\n\n");
        table(
                List.of("event", "type on the wire", "meaning"),
                kinds(TaskEvent.class)
                        .map(event -> List.of(event, wireTypes(event), SourceText.sentenceAbout("TaskEvent", event))));
        text.append("""

                ## Moves

                What is to be done is listed in order. A question mark: only where there is something of the kind to do.

                """);
        table(
                List.of("state", "event", "when", "next", "to be done"),
                DeclaredMoves.ALL.stream()
                        .map(move -> List.of(move.from(), move.event(), move.when(), move.to(), effectsOf(move))));
        text.append("""

                ## What is to be done

                """);
        table(
                List.of("effect", "meaning"),
                kinds(Effect.class).map(effect -> List.of(effect, SourceText.sentenceAbout("Effect", effect))));
        text.append("\nWhat is published or followed up is one of these facts:\n\n");
        table(
                List.of("fact", "type on the wire", "meaning"),
                kinds(Fact.class)
                        .map(fact -> List.of(
                                fact, code(factType(fact).wireName()), SourceText.sentenceAbout("Fact", fact))));
        text.append("""

                ## Discards

                Every pair. A tick stands for a move, see above; a word for the reason of a discard; both, where it depends on the
                event (another call, a second time).

                """);
        table(
                Stream.concat(Stream.of(""), states()).toList(),
                kinds(TaskEvent.class)
                        .map(event -> Stream.concat(Stream.of(event), states().map(state -> answers(state, event)))
                                .toList()));
        text.append("\n");
        table(
                List.of("reason", "meaning"),
                Arrays.stream(DiscardReason.values())
                        .map(reason ->
                                List.of(words(reason), SourceText.sentenceAbout("DiscardReason", reason.name()))));
        text.append("\n## Limits\n\nA task that reaches one of them fails with an error that names it.\n\n");
        table(
                List.of("limit", "default", "meaning"),
                Arrays.stream(TaskLimits.class.getRecordComponents())
                        .map(limit -> List.of(
                                code(limit.getName()),
                                String.valueOf(defaultOf(limit)),
                                SourceText.parameter("TaskLimits", "TaskLimits", limit.getName()))));
        return text.toString();
    }

    private void example() {
        table(
                List.of("event", "state after it", "to be done"),
                Scenario.named("canonical-flow").play().stream()
                        .map(move -> List.of(
                                move.event().getClass().getSimpleName(),
                                code(move.transition().next().label()),
                                move.transition().effects().stream()
                                        .map(LifecycleDocument::nameOf)
                                        .collect(joining(", ")))));
    }

    private void picture() {
        text.append("```mermaid\nstateDiagram-v2\n    direction TB\n");
        text.append("    state \"not ended\" as unfinished {\n        direction LR\n");
        UNFINISHED.forEach(state -> text.append("        ").append(state).append('\n'));
        text.append("    }\n");
        Map<String, Set<String>> arrows = new LinkedHashMap<>();
        for (Move move : DeclaredMoves.ALL) {
            if (!move.from().equals(move.to())) {
                arrows.computeIfAbsent(from(move) + " --> " + move.to(), arrow -> new LinkedHashSet<>())
                        .add(arrowName(move.event()));
            }
        }
        arrows.forEach((arrow, events) -> text.append("    ")
                .append(arrow)
                .append(" : ")
                .append(String.join(", ", events))
                .append('\n'));
        kinds(TaskState.Ended.class)
                .forEach(state -> text.append("    ").append(state).append(" --> [*]\n"));
        text.append("```\n");
    }

    private static String arrowName(String event) {
        List<String> names = wireNames(event).toList();
        if (names.isEmpty()) {
            return event;
        }
        return names.size() > 2 ? names.getFirst() + " …" : String.join(", ", names);
    }

    /** A move that every unfinished state has is drawn once, from the box around them. */
    private static String from(Move move) {
        if (move.from().equals("Absent")) {
            return "[*]";
        }
        boolean everywhere = UNFINISHED.stream()
                .allMatch(state -> DeclaredMoves.ALL.stream()
                        .anyMatch(other -> other.from().equals(state)
                                && other.event().equals(move.event())
                                && other.to().equals(move.to())));
        return everywhere ? "unfinished" : move.from();
    }

    private String effectsOf(Move move) {
        List<List<String>> found = outcomes.stream()
                .filter(outcome -> outcome.transition().accepted())
                .filter(outcome -> DeclaredMoves.nameOf(outcome.state(), outcome.event(), outcome.transition())
                        .equals(move.name()))
                .map(outcome -> outcome.transition().effects().stream()
                        .map(LifecycleDocument::nameOf)
                        .distinct()
                        .toList())
                .sorted(Comparator.comparingInt((List<String> effects) -> -effects.size()))
                .toList();
        List<String> merged = new ArrayList<>();
        for (List<String> effects : found) {
            int at = 0;
            for (String effect : effects) {
                int known = merged.indexOf(effect);
                if (known < 0) {
                    merged.add(at++, effect);
                } else {
                    at = known + 1;
                }
            }
        }
        return merged.stream()
                .map(effect -> found.stream().allMatch(effects -> effects.contains(effect)) ? effect : effect + " ?")
                .collect(joining(", "));
    }

    private static String nameOf(Effect effect) {
        return switch (effect) {
            case Effect.Publish(Fact fact) ->
                "Publish " + factType(fact.getClass().getSimpleName()).wireName();
            case Effect.FollowUp(Fact.Consequence fact) ->
                "FollowUp " + factType(fact.getClass().getSimpleName()).wireName();
            default -> effect.getClass().getSimpleName();
        };
    }

    private String answers(String state, String event) {
        Set<String> answers = new TreeSet<>(Comparator.reverseOrder()); // the tick sorts last, so it comes first
        outcomes.stream()
                .filter(outcome -> outcome.state().getClass().getSimpleName().equals(state))
                .filter(outcome -> outcome.event().getClass().getSimpleName().equals(event))
                .forEach(outcome -> answers.add(outcome.transition().effects().stream()
                        .filter(Discard.class::isInstance)
                        .map(effect -> words(((Discard) effect).reason()))
                        .findFirst()
                        .orElse("✓")));
        return String.join(", ", answers);
    }

    private static KnownEventType factType(String fact) {
        return switch (fact) {
            case "Created" -> TASK_CREATED;
            case "StepDone" -> STEP_COMPLETED;
            case "ToolRefused" -> TOOL_CALL_FAILED;
            case "ChildAccepted" -> TOOL_CALL_COMPLETED;
            case "ChildStopping" -> TOOL_CALL_COMPLETED;
            case "ModelTimedOut" -> MODEL_CALL_FAILED;
            case "ToolTimedOut" -> TOOL_CALL_FAILED;
            case "ApprovalRequested" -> APPROVAL_REQUESTED;
            case "ApprovalExpired" -> APPROVAL_DECIDED;
            case "ApprovalWithdrawn" -> APPROVAL_DECIDED;
            case "Asked" -> TASK_SUSPENDED;
            case "Notified" -> TASK_NOTIFY;
            case "Completed" -> TASK_COMPLETED;
            case "Failed" -> TASK_FAILED;
            case "Cancelled" -> TASK_CANCELLED;
            default -> throw new AssertionError("which type on the wire has the fact " + fact + "?");
        };
    }

    /** In the order of a life. */
    private static Stream<String> states() {
        return Samples.STATES.stream()
                .map(state -> state.getClass().getSimpleName())
                .distinct();
    }

    private static Stream<String> kinds(Class<?> sealed) {
        return Samples.kindsOf(sealed).stream().map(Class::getSimpleName);
    }

    private static String labelOf(String state) {
        return Samples.STATES.stream()
                .filter(sample -> sample.getClass().getSimpleName().equals(state))
                .findFirst()
                .orElseThrow()
                .label();
    }

    private static Stream<String> wireNames(String event) {
        return EVENT_TYPES.entrySet().stream()
                .filter(entry -> entry.getKey().getSimpleName().equals(event))
                .flatMap(entry -> entry.getValue().stream())
                .map(KnownEventType::wireName);
    }

    private static String wireTypes(String event) {
        if (event.equals("ChildEnded")) {
            return "`background_task.completed`, `background_task.failed`";
        }
        String types = wireNames(event).map(LifecycleDocument::code).collect(joining(", "));
        return types.isEmpty() ? "– (the shell's own)" : types;
    }

    private static Object defaultOf(RecordComponent limit) {
        try {
            return Objects.requireNonNull(limit.getAccessor().invoke(TaskLimits.DEFAULT));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static String words(DiscardReason reason) {
        return reason.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }

    private static String code(String word) {
        return '`' + word + '`';
    }

    private void table(List<String> head, Stream<List<String>> rows) {
        line(head);
        line(head.stream().map(column -> "---").toList());
        rows.forEach(this::line);
    }

    private void line(List<String> cells) {
        text.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }
}
