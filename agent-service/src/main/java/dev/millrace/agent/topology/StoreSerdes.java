package dev.millrace.agent.topology;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.Plan;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.JsonSerdes;
import dev.millrace.schemas.Event;
import java.util.List;
import org.apache.kafka.common.serialization.Serde;

/**
 * How the stores keep their values: JSON, with the kind of a state in {@code state}, of a step in {@code step}, and so
 * on. What a released version wrote must stay readable: fields may be added, never renamed
 * ({@code src/test/resources/states}).
 */
public final class StoreSerdes {

    private static final ObjectMapper MAPPER = mapper(new JsonFactory());

    /** Rows of tasks. */
    public static final Serde<StoredTask> TASK = serde(StoredTask.class);
    /** Entries of transcripts. They are never written again, so what a newer version has added may be passed over. */
    public static final Serde<TranscriptEntry> TRANSCRIPT_ENTRY = JsonSerdes.of(
            MAPPER.copy().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES), TranscriptEntry.class);

    static final Serde<OutstandingCall> OUTSTANDING_CALL = serde(OutstandingCall.class);
    static final Serde<AdmissionRow> ADMISSION_ROW = serde(AdmissionRow.class);
    static final Serde<Sessions.Row> SESSION = serde(Sessions.Row.class);
    static final Serde<Sessions.Told> TOLD = serde(Sessions.Told.class);
    static final Serde<TaskForgetting.Row> FORGETTING = serde(TaskForgetting.Row.class);
    static final Serde<ScheduleRow> SCHEDULE = serde(ScheduleRow.class);
    static final Serde<Event> EVENT = serde(Event.class);
    static final Serde<HeldEvents.Row> HELD = serde(HeldEvents.Row.class);
    static final Serde<Processing.Row> PROCESSING = serde(Processing.Row.class);

    private StoreSerdes() {}

    /**
     * What the stores are written and read with, for JSON or for another format of Jackson's that has the same
     * structure.
     */
    public static ObjectMapper mapper(JsonFactory format) {
        return JsonMapper.builder(format)
                .addMixIn(TaskState.class, StateKinds.class)
                .addMixIn(Plan.Step.class, StepKinds.class)
                .addMixIn(Plan.Standing.class, StandingKinds.class)
                .addMixIn(TranscriptEntry.class, EntryKinds.class)
                .addMixIn(TranscriptEntry.UserText.class, UserTextFields.class)
                .addMixIn(AgentPin.class, AgentFields.class)
                .addMixIn(ToolCall.Route.class, RouteKinds.class)
                .addMixIn(AdmissionRow.class, AdmissionKinds.class)
                .addModule(JsonSerdes.events())
                .defaultPropertyInclusion(
                        JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
                // what a newer version has added must not be lost because this one rewrites the row
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                .build();
    }

    private static <T> Serde<T> serde(Class<T> type) {
        return JsonSerdes.of(MAPPER, type);
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "state")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = TaskState.Absent.class, name = "absent"),
        @JsonSubTypes.Type(value = TaskState.Idle.class, name = "idle"),
        @JsonSubTypes.Type(value = TaskState.Reasoning.class, name = "reasoning"),
        @JsonSubTypes.Type(value = TaskState.Compacting.class, name = "compacting"),
        @JsonSubTypes.Type(value = TaskState.Acting.class, name = "acting"),
        @JsonSubTypes.Type(value = TaskState.Suspended.class, name = "suspended"),
        @JsonSubTypes.Type(value = TaskState.Completed.class, name = "completed"),
        @JsonSubTypes.Type(value = TaskState.Failed.class, name = "failed"),
        @JsonSubTypes.Type(value = TaskState.Cancelled.class, name = "cancelled")
    })
    @JsonIgnoreProperties({"label"})
    private interface StateKinds {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "step")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Plan.CallStep.class, name = "call"),
        @JsonSubTypes.Type(value = Plan.RespondStep.class, name = "respond")
    })
    private interface StepKinds {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "is")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Plan.Held.class, name = "held"),
        @JsonSubTypes.Type(value = Plan.Deciding.class, name = "deciding"),
        @JsonSubTypes.Type(value = Plan.Requested.class, name = "requested"),
        @JsonSubTypes.Type(value = Plan.Delegated.class, name = "delegated"),
        @JsonSubTypes.Type(value = Plan.Done.class, name = "done")
    })
    private interface StandingKinds {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "role")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = TranscriptEntry.UserText.class, name = "user"),
        @JsonSubTypes.Type(value = TranscriptEntry.AssistantTurn.class, name = "assistant"),
        @JsonSubTypes.Type(value = TranscriptEntry.ToolResult.class, name = "tool"),
        @JsonSubTypes.Type(value = TranscriptEntry.Summary.class, name = "summary")
    })
    private interface EntryKinds {}

    /** Not private, or its method would seem to be of no use. */
    interface UserTextFields {
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        List<TranscriptEntry.Image> images();
    }

    /** Not private, or its method would seem to be of no use. */
    interface AgentFields {
        @JsonInclude(JsonInclude.Include.NON_EMPTY)
        List<String> above();
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "route")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = ToolCall.Run.class, name = "run"),
        @JsonSubTypes.Type(value = ToolCall.Spawn.class, name = "spawn"),
        @JsonSubTypes.Type(value = ToolCall.Resume.class, name = "resume"),
        @JsonSubTypes.Type(value = ToolCall.Stop.class, name = "stop"),
        @JsonSubTypes.Type(value = ToolCall.Refuse.class, name = "refuse")
    })
    private interface RouteKinds {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "row")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = AdmissionRow.Waiting.class, name = "waiting"),
        @JsonSubTypes.Type(value = AdmissionRow.Holding.class, name = "holding"),
        @JsonSubTypes.Type(value = AdmissionRow.Gate.class, name = "gate")
    })
    private interface AdmissionKinds {}
}
