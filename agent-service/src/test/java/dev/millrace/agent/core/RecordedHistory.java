package dev.millrace.agent.core;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import dev.millrace.agent.core.SimulatedShell.Move;
import dev.millrace.agent.core.TaskState.Absent;
import dev.millrace.agent.core.TaskState.Existing;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A history as a file: a head, then one line per event with the state that it led to and what was to be done. Events are
 * recorded in full; states and effects by what people and other services see of them, so that a later version may add to
 * the records of the core without making old files wrong.
 */
record RecordedHistory(Head head, List<Line> lines) {

    /** The first line. */
    record Head(String history, String about, TaskLimits limits) {}

    /** An event and what came of it. */
    record Line(TaskEvent event, String state, List<String> effects) {}

    private static final ObjectMapper MAPPER = mapper();

    /** The story as this version of the machine tells it. */
    static RecordedHistory of(String name, Scenario scenario) {
        List<Line> lines = new ArrayList<>();
        for (Move move : scenario.play()) {
            lines.add(line(move.event(), move.transition()));
        }
        return new RecordedHistory(new Head(name, scenario.about(), scenario.limits()), lines);
    }

    /** The same events again, with what this version of the machine makes of them. */
    RecordedHistory replay() {
        TaskFsm fsm = new TaskFsm(MachineLimits.of(head.limits()));
        TaskState state = TaskState.ABSENT;
        List<Line> replayed = new ArrayList<>();
        for (Line line : lines) {
            Transition transition = fsm.transition(state, line.event());
            replayed.add(line(line.event(), transition));
            state = transition.next();
        }
        return new RecordedHistory(head, replayed);
    }

    private static Line line(TaskEvent event, Transition transition) {
        return new Line(
                event,
                describe(transition.next()),
                transition.effects().stream().map(RecordedHistory::describe).toList());
    }

    static RecordedHistory parse(String text) {
        try {
            List<String> all = text.lines().toList();
            List<Line> lines = new ArrayList<>();
            for (String line : all.subList(1, all.size())) {
                lines.add(MAPPER.readValue(line, Line.class));
            }
            return new RecordedHistory(MAPPER.readValue(all.getFirst(), Head.class), lines);
        } catch (JsonProcessingException e) {
            throw new AssertionError("not a recorded history", e);
        }
    }

    String text() {
        try {
            StringBuilder text = new StringBuilder(MAPPER.writeValueAsString(head)).append('\n');
            for (Line line : lines) {
                text.append(MAPPER.writeValueAsString(line)).append('\n');
            }
            return text.toString();
        } catch (JsonProcessingException e) {
            throw new AssertionError("cannot be written", e);
        }
    }

    private static String describe(TaskState state) {
        return switch (state) {
            case Absent s -> s.label();
            case Existing s -> {
                TaskContext c = s.context();
                yield s.label() + ": iteration " + c.iteration() + ", actions " + c.actionsCount() + ", transcript "
                        + c.transcriptLength() + "/" + c.transcriptChars() + ", tokens "
                        + c.usage().total();
            }
        };
    }

    private static String describe(Effect effect) {
        return switch (effect) {
            case Effect.Append e ->
                "append " + e.seq() + ": "
                        + e.entries().stream().map(RecordedHistory::describe).collect(joining(", "));
            case Effect.CallModel e -> "call model " + e.callId();
            case Effect.Summarise e -> "summarise before " + e.before() + " " + e.callId();
            case Effect.SettleModelCall e -> "settle model call " + e.callId();
            case Effect.CallTool e -> "call tool " + e.toolName() + " " + e.callId();
            case Effect.Publish e -> "publish " + describe(e.fact());
            case Effect.FollowUp e -> "follow up " + describe(e.fact());
            case Effect.RequestAdmission e -> "request admission";
            case Effect.StartChild e ->
                "start child " + e.childId() + (e.background() ? " in the background" : "") + " '" + e.input() + "'";
            case Effect.ResumeChild e -> "resume child " + e.childId() + " '" + e.input() + "'";
            case Effect.CancelChild e -> "cancel child " + e.childId();
            case Effect.Discard e -> "discard " + e.reason();
        };
    }

    private static String describe(TranscriptEntry entry) {
        return switch (entry) {
            case UserText e -> "user '" + e.text() + "'";
            case TranscriptEntry.Summary e -> "summary '" + e.text() + "' of '" + e.request() + "'";
            case AssistantTurn e ->
                "assistant " + (e.text() == null ? "" : "'" + e.text() + "' ")
                        + e.toolCalls().stream()
                                .map(TranscriptEntry.Call::toolCallId)
                                .toList();
            case ToolResult e -> "tool " + e.toolCallId() + " '" + e.content() + "'";
        };
    }

    private static String describe(Fact fact) {
        return switch (fact) {
            case Fact.Created f -> "created";
            case Fact.StepDone f -> "step " + f.stepIndex() + " done";
            case Fact.ToolRefused f -> "refused " + f.toolName() + " " + f.code();
            case Fact.ChildAccepted f -> "child accepted " + f.childId();
            case Fact.ChildStopping f -> "child stopping " + f.childId();
            case Fact.ModelTimedOut f -> "model timed out " + f.callId();
            case Fact.ToolTimedOut f -> "tool timed out " + f.callId();
            case Fact.ApprovalRequested f -> "approval requested " + f.callId() + " " + f.arguments();
            case Fact.ApprovalExpired f -> "approval expired " + f.callId();
            case Fact.ApprovalWithdrawn f -> "approval withdrawn " + f.callId();
            case Fact.Asked f -> "asked '" + f.question() + "'";
            case Fact.Notified f -> "notified '" + f.notice().message() + "'";
            case Fact.Completed f -> "completed '" + f.response() + "'";
            case Fact.Failed f -> "failed " + f.error().code();
            case Fact.Cancelled f -> "cancelled '" + f.reason() + "'";
        };
    }

    private static ObjectMapper mapper() {
        JsonMapper.Builder mapper = JsonMapper.builder()
                .addMixIn(TaskEvent.class, NamedKind.class)
                .addMixIn(ToolCall.Route.class, NamedKind.class)
                .addMixIn(TaskEvent.ModelCallFailed.class, LaterFields.class)
                .addMixIn(TaskEvent.Terms.class, LaterTerms.class)
                .defaultPropertyInclusion(
                        JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
                .addModule(new SimpleModule()
                        .addSerializer(Meta.class, new MetaWriter())
                        .addSerializer(TaskEvent.Notice.class, new NoticeWriter())
                        .addDeserializer(Meta.class, new MetaReader()));
        for (Class<?> sealed : List.of(TaskEvent.class, ToolCall.Route.class)) {
            Samples.kindsOf(sealed).forEach(kind -> mapper.registerSubtypes(new NamedType(kind, kind.getSimpleName())));
        }
        return mapper.build();
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "is")
    private interface NamedKind {}

    /** What histories of the first version do not have is left out where it says nothing. */
    interface LaterFields {
        @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = Nothing.class)
        Usage usage();
    }

    /** The same. */
    interface LaterTerms {
        @JsonInclude(value = JsonInclude.Include.CUSTOM, valueFilter = Nothing.class)
        TaskEvent.Opening opening();
    }

    /** Equal to whatever says nothing. */
    static final class Nothing {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Nothing || Usage.NONE.equals(other) || TaskEvent.Opening.NONE.equals(other);
        }

        @Override
        public int hashCode() {
            return 0;
        }
    }

    /** What the owner is told is a text, as it was before there were channels. */
    private static final class NoticeWriter extends StdSerializer<TaskEvent.Notice> {
        NoticeWriter() {
            super(TaskEvent.Notice.class);
        }

        @Override
        public void serialize(TaskEvent.Notice notice, JsonGenerator json, SerializerProvider provider)
                throws IOException {
            if (notice.channelId() != null) {
                throw new AssertionError("histories have no replies in channels yet");
            }
            json.writeString(notice.message());
        }
    }

    /** Of an event's identity only the id and the clock: all are for one task, and the event's own time decides nothing. */
    private static final class MetaWriter extends StdSerializer<Meta> {
        MetaWriter() {
            super(Meta.class);
        }

        @Override
        public void serialize(Meta meta, JsonGenerator out, SerializerProvider provider) throws IOException {
            out.writeString(meta.eventId() + '@' + meta.nowMs());
        }
    }

    private static final class MetaReader extends StdDeserializer<Meta> {
        MetaReader() {
            super(Meta.class);
        }

        @Override
        public Meta deserialize(JsonParser in, DeserializationContext context) throws IOException {
            String[] parts = in.getText().split("@", -1);
            return new Meta(parts[0], TaskBuilder.TASK_ID, Instant.EPOCH, Long.parseLong(parts[1]));
        }
    }
}
