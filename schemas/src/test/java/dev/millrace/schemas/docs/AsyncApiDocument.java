package dev.millrace.schemas.docs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.StreamType;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.Topics.Cleanup;
import dev.millrace.schemas.Topics.Topic;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** {@code docs/asyncapi.yaml}: AsyncAPI 3.0; channels are topics, messages are event types. */
final class AsyncApiDocument {
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final String KAFKA_BINDING = "0.5.0";
    private static final String ANY_EVENT = "AnyEvent";
    private static final String ANY_RECORD = "AnyRecord";
    private static final String TOOL_DEFINITION = "ToolDefinition";
    private static final String MEMORY_DOCUMENT = "MemoryDocument";
    private static final String CONTENT = "Content";
    private static final String RATE_CLAIM = "RateClaim";
    private static final String VARIABLE = "Variable";
    private static final String FORGOTTEN = "Forgotten";

    private AsyncApiDocument() {}

    static String text() throws JsonProcessingException {
        YAMLMapper yaml = YAMLMapper.builder()
                .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
                .disable(YAMLGenerator.Feature.SPLIT_LINES)
                .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
                .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
                .enable(YAMLGenerator.Feature.INDENT_ARRAYS_WITH_INDICATOR)
                .build();
        return "# Made from the catalogue, the topics and the JSON Schemas in schemas/. Rewrite it with\n# "
                + GeneratedDocsTest.COMMAND + "\n" + yaml.writeValueAsString(document());
    }

    static ObjectNode document() {
        ObjectNode document = NODES.objectNode();
        document.put("asyncapi", "3.0.0");
        ObjectNode about = document.putObject("info");
        about.put("title", "Millrace");
        about.put("version", "0.1.0");
        about.put(
                "description",
                "The events of Millrace, a runtime for AI agents on Apache Kafka. docs/events.md says the same for people.");
        about.putObject("license").put("name", "Apache-2.0");
        document.put("defaultContentType", "application/json");
        ObjectNode server = document.putObject("servers").putObject("local");
        server.put("host", "localhost:9092");
        server.put("protocol", "kafka");
        server.put("description", "What ./millrace up starts");
        ObjectNode channels = document.putObject("channels");
        ObjectNode operations = document.putObject("operations");
        TOPICS.all().forEach(topic -> {
            channels.set(id(topic), channel(topic));
            operations.set((sends(topic) ? "send" : "receive") + '.' + id(topic), operation(topic));
        });
        document.set("components", components());
        return document;
    }

    private static String id(Topic topic) {
        return topic.name().substring(Topics.DEFAULT_PREFIX.length());
    }

    private static ObjectNode channel(Topic topic) {
        ObjectNode channel = NODES.objectNode();
        channel.put("address", topic.name());
        channel.put("title", topic.purpose());
        channel.put(
                "description",
                "Key: " + topic.key() + ". Written by " + topic.writtenBy() + ", read by " + topic.readBy() + ".");
        ObjectNode messages = channel.putObject("messages");
        messagesOf(topic).forEach(name -> messages.set(name, ref("#/components/messages/" + name)));
        ObjectNode kafka = channel.putObject("bindings").putObject("kafka");
        kafka.put("topic", topic.name());
        ObjectNode configuration = kafka.putObject("topicConfiguration");
        configuration.putArray("cleanup.policy").add(topic.cleanup().name().toLowerCase(Locale.ROOT));
        if (topic.cleanup() == Cleanup.DELETE) {
            configuration.put("retention.ms", topic.retention().toMillis());
        }
        configuration.put("max.message.bytes", topic.maxMessageBytes());
        kafka.put("bindingVersion", KAFKA_BINDING);
        return channel;
    }

    /** What Millrace, taken as one application, does with the topic; a lane is where it listens. */
    private static boolean sends(Topic topic) {
        return !isLane(topic) && !topic.name().equals(TOPICS.definitions());
    }

    private static ObjectNode operation(Topic topic) {
        ObjectNode operation = NODES.objectNode();
        operation.put("action", sends(topic) ? "send" : "receive");
        operation.set("channel", ref("#/channels/" + id(topic)));
        operation.put("summary", topic.purpose());
        ArrayNode messages = operation.putArray("messages");
        messagesOf(topic).forEach(name -> messages.add(ref("#/channels/" + id(topic) + "/messages/" + name)));
        return operation;
    }

    /** On a lane: the types of its segment that are taken from outside. An event with a priority of its own may be on another. */
    private static List<String> messagesOf(Topic topic) {
        if (topic.name().equals(TOPICS.definitions())) {
            return List.of(TOOL_DEFINITION);
        }
        if (topic.name().equals(TOPICS.deadLetters())) {
            return List.of(ANY_RECORD);
        }
        if (topic.name().equals(TOPICS.reflectionRequests())) {
            return List.of(KnownEventType.REFLECTION_REQUESTED.name(), KnownEventType.TASKS_FORGOTTEN.name());
        }
        if (topic.name().equals(TOPICS.webhookRequests())) {
            return List.of(KnownEventType.NOTIFICATION_REQUESTED.name());
        }
        if (topic.name().equals(TOPICS.tokens())) {
            return streams().map(StreamType::wireName).toList();
        }
        if (topic.name().equals(TOPICS.content())) {
            return List.of(CONTENT);
        }
        if (topic.name().equals(TOPICS.rates())) {
            return List.of(RATE_CLAIM);
        }
        if (topic.name().equals(TOPICS.variables())) {
            return List.of(VARIABLE);
        }
        if (topic.name().equals(TOPICS.forgotten())) {
            return List.of(FORGOTTEN);
        }
        if (topic.name().equals(TOPICS.memory())) {
            return List.of(MEMORY_DOCUMENT);
        }
        if (topic.name().equals(TOPICS.memoryRequests())) {
            return List.of(KnownEventType.TOOL_CALL_REQUESTED.name(), KnownEventType.MEMORY_EDIT_REQUESTED.name());
        }
        if (topic.name().equals(TOPICS.requests(Topics.BUILT_IN_TOOLSET))) {
            return List.of(KnownEventType.TOOL_CALL_REQUESTED.name());
        }
        boolean lane = isLane(topic);
        Stream<String> known = typesWithSchema()
                .filter(type -> !lane
                        || (!type.machineOnly() && TOPICS.lane(type.segment()).equals(topic.name())))
                .map(KnownEventType::name);
        boolean open = !lane || topic.name().equals(TOPICS.lane(Segment.EXTERNAL));
        return Stream.concat(known, open ? Stream.of(ANY_EVENT) : Stream.empty())
                .toList();
    }

    private static boolean isLane(Topic topic) {
        return Arrays.stream(Segment.values())
                .anyMatch(segment -> TOPICS.lane(segment).equals(topic.name()));
    }

    /** Live text, as far as it is on a topic. */
    private static Stream<StreamType> streams() {
        return Arrays.stream(StreamType.values()).filter(type -> type != StreamType.TOKEN);
    }

    private static Stream<KnownEventType> typesWithSchema() {
        return Arrays.stream(KnownEventType.values())
                .filter(type -> EventSchemas.payloadSchema(type).isPresent());
    }

    private static ObjectNode components() {
        ObjectNode components = NODES.objectNode();
        ObjectNode messages = components.putObject("messages");
        ObjectNode schemas = components.putObject("schemas");
        typesWithSchema().forEach(type -> {
            JsonNode schema = EventSchemas.payloadSchema(type).orElseThrow();
            messages.set(type.name(), message(type, type.summary(), schema));
            schemas.set(type.name(), inlined(schema));
        });
        streams().forEach(type -> {
            JsonNode schema = EventSchemas.payloadSchema(type).orElseThrow();
            messages.set(type.wireName(), message(type, type.summary(), schema));
            schemas.set(type.wireName(), inlined(schema));
        });
        messages.set(ANY_EVENT, anyEvent());
        messages.set(TOOL_DEFINITION, toolDefinition());
        messages.set(ANY_RECORD, anyRecord());
        messages.set(CONTENT, content());
        messages.set(RATE_CLAIM, rateClaim());
        messages.set(VARIABLE, variable());
        messages.set(FORGOTTEN, forgotten());
        messages.set(MEMORY_DOCUMENT, memoryDocument());
        schemas.set("Event", inlined(EventSchemas.envelopeSchema()));
        ObjectNode traits = components.putObject("messageTraits");
        traits.set("cloudEvent", cloudEventTrait());
        return components;
    }

    private static ObjectNode message(EventType type, String summary, JsonNode schema) {
        ObjectNode message = NODES.objectNode();
        message.put("name", type.wireName());
        message.put("title", schema.path("title").asText());
        message.put("summary", summary);
        message.putArray("traits").add(ref("#/components/messageTraits/cloudEvent"));
        message.set("payload", ref("#/components/schemas/" + type.wireName()));
        message.putArray("examples")
                .addObject()
                .set("payload", schema.path("examples").path(0));
        return message;
    }

    private static ObjectNode anyEvent() {
        ObjectNode message = NODES.objectNode();
        message.put("name", ANY_EVENT);
        message.put("title", "Event of another type");
        message.put("summary", "The set of types is open: any other name in ce_type, any object as the value.");
        message.putArray("traits").add(ref("#/components/messageTraits/cloudEvent"));
        message.putObject("payload").put("type", "object");
        return message;
    }

    private static ObjectNode toolDefinition() {
        ObjectNode message = NODES.objectNode();
        message.put("name", TOOL_DEFINITION);
        message.put("title", "Tool definition");
        message.put(
                "summary", "What a model may call, and where its calls go. Key: tool/<name>; no value takes it back.");
        ObjectNode payload = message.putObject("payload");
        payload.put("type", "object");
        payload.putArray("required").add("name").add("description").add("toolset");
        ObjectNode properties = payload.putObject("properties");
        field(properties, "name", "string", "Unique; letters, digits, _ and -.")
                .put("pattern", "^[A-Za-z0-9_-]{1,64}$");
        field(properties, "description", "string", "What the tool does, for the model.");
        field(properties, "parameters", "object", "JSON Schema of the arguments. Absent = none.");
        field(properties, "toolset", "string", "Its calls go to requests.<toolset>.")
                .put("pattern", "^[A-Za-z0-9._-]{1,64}$");
        field(properties, "timeoutMs", "integer", "How long one execution may take, in milliseconds. Absent = 30000.")
                .put("minimum", 1);
        ArrayNode effects = field(
                        properties, "sideEffects", "string", "What a call does to the world. Absent = DESTRUCTIVE.")
                .putArray("enum");
        effects.add("READ_ONLY").add("IDEMPOTENT").add("DESTRUCTIVE");
        addApproval(properties);
        ObjectNode retry = field(
                properties,
                "retry",
                "object",
                "How often the worker tries again what failed for a passing reason. Absent = as the worker is set up.");
        retry.putArray("required").add("maxAttempts");
        ObjectNode retryProperties = retry.putObject("properties");
        field(retryProperties, "maxAttempts", "integer", "Executions in all; 1 = no second one.")
                .put("minimum", 1)
                .put("maximum", ToolDefinition.Retry.MAX_ATTEMPTS);
        field(
                        retryProperties,
                        "initialDelayMs",
                        "integer",
                        "The pause after the first failure, in milliseconds; it grows. Absent = "
                                + ToolDefinition.DEFAULT_RETRY_DELAY_MS + ".")
                .put("minimum", 0);
        return message;
    }

    private static void addApproval(ObjectNode properties) {
        ObjectNode approval = properties.putObject("approval");
        approval.put("description", "Whether a person has to agree before a call runs. Absent = never.");
        ArrayNode forms = approval.putArray("oneOf");
        forms.addObject().put("type", "string").putArray("enum").add("never").add("always");
        ObjectNode when = forms.addObject();
        when.put("type", "object");
        when.putArray("required").add("when");
        field(when.putObject("properties"), "when", "string", "A condition on the arguments.")
                .put("minLength", 1)
                .put("maxLength", ToolDefinition.Approval.When.MAX_EXPRESSION_LENGTH);
        field(
                        properties,
                        "approvalExpiryMs",
                        "integer",
                        "How long the person has, in milliseconds. Absent = the installation's default.")
                .put("minimum", 1);
        field(
                        properties,
                        "onExpiry",
                        "string",
                        "What becomes of a call that nobody decided on in time. Absent = reject.")
                .putArray("enum")
                .add("reject")
                .add("approve");
    }

    private static ObjectNode memoryDocument() {
        ObjectNode message = NODES.objectNode();
        message.put("name", MEMORY_DOCUMENT);
        message.put("title", "Document of memory");
        message.put(
                "summary",
                "A document as it is now (key namespace/path) or an older version of it (key namespace/path@version); no"
                        + " value = it is gone.");
        ObjectNode payload = message.putObject("payload");
        payload.put("type", "object");
        ObjectNode properties = payload.putObject("properties");
        field(properties, "namespace", "string", "Whose it is.");
        field(properties, "path", "string", "facts/<name>.md or episodes/YYYY-MM.md.");
        field(properties, "version", "integer", "1 for the first one; each change has the next number.")
                .put("minimum", 1);
        field(properties, "content", "string", "Markdown.");
        field(properties, "summary", "string", "What its summary line says; may be empty.");
        field(properties, "size", "integer", "Of the content, in bytes of UTF-8.")
                .put("minimum", 0);
        field(properties, "updatedAt", "string", "When it was written, RFC 3339.");
        field(properties, "updatedBy", "string", "Who wrote it.");
        field(properties, "changeId", "string", "Id of the call or edit that wrote it.");
        field(
                properties,
                "deleted",
                "boolean",
                "Whether this version is that the document was taken away. Absent = no.");
        return message;
    }

    private static ObjectNode content() {
        ObjectNode message = NODES.objectNode();
        message.put("name", CONTENT);
        message.put("title", "Piece of a large tool result");
        message.put(
                "summary",
                "A piece (bytes as they are), or, after the last one, a JSON object that names the pieces and says who"
                        + " may read them. For the tool service alone: the tool read_result gives it out.");
        ObjectNode headers = message.putObject("headers");
        headers.put("type", "object");
        headers.putArray("required").add("millrace-content");
        field(headers.putObject("properties"), "millrace-content", "string", "Which of the two it is.")
                .putArray("enum")
                .add("piece")
                .add("index");
        message.putObject("payload").put("description", "Bytes of the result, or the index.");
        return message;
    }

    private static ObjectNode variable() {
        ObjectNode message = NODES.objectNode();
        message.put("name", VARIABLE);
        message.put("title", "Variable of a conversation");
        message.put(
                "summary",
                "Somebody has set a variable, or variables are forgotten. For the tool service alone: the tool get_env gives it out.");
        ObjectNode payload = message.putObject("payload");
        payload.put("type", "object");
        payload.putArray("required").add("namespace");
        ObjectNode properties = payload.putObject("properties");
        field(properties, "namespace", "string", "The tenant.");
        field(properties, "kind", "string", "What it belongs to.")
                .putArray("enum")
                .add("session")
                .add("task");
        field(properties, "id", "string", "Of the session or the task. Absent, like kind = all are forgotten.");
        field(properties, "key", "string", "The name of the variable.");
        field(properties, "value", "string", "Its value from now on.");
        field(
                properties,
                "forgottenAt",
                "integer",
                "In place of key and value: what was set up to this moment is forgotten, in Unix milliseconds.");
        return message;
    }

    private static ObjectNode forgotten() {
        ObjectNode message = NODES.objectNode();
        message.put("name", FORGOTTEN);
        message.put("title", "What is forgotten");
        message.put(
                "summary",
                "Nobody is to be shown what topics still hold of this. Whoever shows something out of the journal to others reads"
                        + " it and leaves that out.");
        ObjectNode payload = message.putObject("payload");
        payload.put("type", "object");
        payload.putArray("required").add("namespace").add("kind").add("forgottenAt");
        ObjectNode properties = payload.putObject("properties");
        field(properties, "namespace", "string", "The tenant.");
        field(properties, "kind", "string", "How much of it.")
                .putArray("enum")
                .add("task")
                .add("session")
                .add("memory")
                .add("namespace");
        field(properties, "id", "string", "Of the task or the session.");
        field(
                properties,
                "forgottenAt",
                "integer",
                "What came up to this moment is forgotten, in Unix milliseconds; of a task all.");
        return message;
    }

    private static ObjectNode rateClaim() {
        ObjectNode message = NODES.objectNode();
        message.put("name", RATE_CLAIM);
        message.put("title", "Claim on a provider's rate");
        message.put(
                "summary",
                "Somebody wants to send a request with this key, has sent none after all, or knows what it used. For the"
                        + " agent service alone; dated by the broker (message.timestamp.type=LogAppendTime).");
        ObjectNode payload = message.putObject("payload");
        payload.put("type", "object");
        payload.putArray("required").add("op").add("claim").add("tokens");
        ObjectNode properties = payload.putObject("properties");
        field(properties, "op", "string", "What it says of the claim.")
                .putArray("enum")
                .add("CLAIM")
                .add("RELEASE")
                .add("SETTLE");
        field(properties, "claim", "string", "What the claim is called; unique.");
        field(properties, "tokens", "integer", "Expected with CLAIM, used with SETTLE, else 0.");
        return message;
    }

    private static ObjectNode anyRecord() {
        ObjectNode message = NODES.objectNode();
        message.put("name", ANY_RECORD);
        message.put("title", "Dead letter");
        message.put(
                "summary", "The record as it came, whatever it is, with headers that say why and where it came from.");
        ObjectNode headers = message.putObject("headers");
        headers.put("type", "object");
        headers.putArray("required")
                .add("millrace-reason")
                .add("millrace-origin-topic")
                .add("millrace-origin-partition")
                .add("millrace-origin-offset")
                .add("millrace-origin-timestamp");
        ObjectNode properties = headers.putObject("properties");
        field(properties, "millrace-reason", "string", "Why, as a stable word; docs/events.md lists them.");
        field(properties, "millrace-detail", "string", "Why, for people. Absent = there is no more to say.");
        field(properties, "millrace-origin-topic", "string", "The topic that it was read from.");
        field(properties, "millrace-origin-partition", "string", "The partition, decimal digits.");
        field(properties, "millrace-origin-offset", "string", "The offset, decimal digits.");
        field(properties, "millrace-origin-timestamp", "string", "The record's timestamp, Unix milliseconds.");
        message.putObject("payload").put("description", "Any bytes, or none.");
        return message;
    }

    private static ObjectNode cloudEventTrait() {
        ObjectNode trait = NODES.objectNode();
        trait.put("contentType", "application/json");
        ObjectNode headers = trait.putObject("headers");
        headers.put("type", "object");
        headers.putArray("required").add("ce_id").add("ce_type");
        ObjectNode properties = headers.putObject("properties");
        field(properties, "ce_specversion", "string", "Absent = 1.0.").put("const", "1.0");
        id(properties, "ce_id", "Unique within the namespace; the idempotency key.");
        field(properties, "ce_type", "string", "The type of the event.")
                .put("minLength", 1)
                .put("maxLength", 256);
        field(properties, "ce_source", "string", "Who says so, a URI reference. Absent = nobody said.");
        field(properties, "ce_time", "string", "When it happened. Absent = the timestamp of the record.")
                .put("format", "date-time");
        id(properties, "ce_subject", "The task. Absent = none yet.");
        id(properties, "ce_sessionid", "The conversation. Absent = the task is one of its own.");
        id(properties, "ce_namespace", "The tenant, without a slash. Absent = default.");
        id(properties, "ce_causationid", "Id of the event that caused this one. Absent = nothing in Millrace did.");
        id(properties, "ce_correlationid", "Id of the first event of the chain. Absent = this is the first.");
        field(
                        properties,
                        "ce_priority",
                        "string",
                        "Goes before the code of the type; lower is earlier. 0 to 99 is for system events, and counts as 100 on any other.")
                .put("pattern", "^[0-9]{1,10}$");
        field(
                        properties,
                        "ce_causaldepth",
                        "string",
                        "How many tasks led to this event, each starting the next. Absent = 0.")
                .put("pattern", "^[0-9]{1,10}$");
        field(
                        properties,
                        "ce_expirytime",
                        "string",
                        "From this moment on it is recorded and not processed. Absent = never.")
                .put("format", "date-time");
        field(properties, "traceparent", "string", "W3C trace context. Absent = not traced.");
        field(properties, "tracestate", "string", "W3C trace state. Absent = none.");
        ObjectNode kafka = trait.putObject("bindings").putObject("kafka");
        ObjectNode key = kafka.putObject("key");
        key.put("type", "string");
        key.put(
                "description",
                "On lanes and in the journal the session key: ce_sessionid, else ce_subject, else ce_id, with"
                        + " <namespace>/ before it outside the default namespace. On request topics see the channel.");
        kafka.put("bindingVersion", KAFKA_BINDING);
        return trait;
    }

    private static void id(ObjectNode properties, String name, String description) {
        field(properties, name, "string", description).put("minLength", 1).put("maxLength", 200);
    }

    private static ObjectNode field(ObjectNode properties, String name, String type, String description) {
        return properties.putObject(name).put("type", type).put("description", description);
    }

    /** Without what tells a file from others; what remains means the same in AsyncAPI's own dialect. */
    private static ObjectNode inlined(JsonNode schema) {
        ObjectNode copy = schema.deepCopy();
        copy.remove(List.of("$schema", "$id"));
        return copy;
    }

    private static ObjectNode ref(String target) {
        return NODES.objectNode().put("$ref", target);
    }
}
