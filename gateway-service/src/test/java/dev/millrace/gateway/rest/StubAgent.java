package dev.millrace.gateway.rest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Problem;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * The other process: answers like agent-service's query side, out of a journal that tests write. {@code PUT /stub/mode}
 * with {@code up}, {@code down} (503), {@code silent} (never answers) or {@code deaf} (knows no more than it does now)
 * makes it behave badly.
 */
final class StubAgent implements AutoCloseable {
    private static final Map<String, Object> WRITE_FILE = Map.of(
            "name",
            "write_file",
            "description",
            "Writes a file.",
            "toolset",
            "tool",
            "parameters",
            Map.of(
                    "type",
                    "object",
                    "required",
                    List.of("path"),
                    "properties",
                    Map.of("path", Map.of("type", "string"), "size", Map.of("type", "number"))));
    private static final int PAGE = 3; // small, so that tests read several pages

    private final List<JournalEntry> journal = new CopyOnWriteArrayList<>();
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final HttpServer http;
    private final Thread thread;
    private volatile String mode = "up";
    private volatile boolean closed;

    StubAgent(String bootstrapServers, Topics topics, int partitions) throws IOException {
        consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        bootstrapServers,
                        "isolation.level",
                        "read_committed",
                        "auto.offset.reset",
                        "earliest",
                        "enable.auto.commit",
                        false),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        consumer.assign(IntStream.range(0, partitions)
                .mapToObj(partition -> new TopicPartition(topics.journal(), partition))
                .toList());
        thread = Thread.ofPlatform().daemon().name("stub-agent").start(this::read);
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/", this::answer);
        http.start();
    }

    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    @Override
    public void close() {
        closed = true;
        http.stop(0);
        try {
            thread.join(Duration.ofSeconds(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void read() {
        try (consumer) {
            while (!closed) {
                for (ConsumerRecord<byte[], byte[]> one : consumer.poll(Duration.ofMillis(100))) {
                    while (mode.equals("deaf") && !closed) {
                        Thread.onSpinWait();
                    }
                    journal.add(new JournalEntry(
                            new JournalCursor(one.partition(), one.offset()),
                            EventCodec.fromRecord(one.headers(), one.value(), Instant.ofEpochMilli(one.timestamp()))));
                }
            }
        } catch (MalformedEventException e) {
            throw new AssertionError("a test wrote garbage to the journal", e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        if (path.equals("/stub/mode")) {
            mode = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            send(exchange, 200, Map.of());
        } else if (mode.equals("down")) {
            problem(exchange, Problem.of(503, "projection_not_ready", "Not ready", "Not ready."));
        } else if (!mode.equals("silent")) {
            String[] segments = Arrays.stream(
                            exchange.getRequestURI().getRawPath().split("/", -1))
                    .map(segment -> URLDecoder.decode(segment, StandardCharsets.UTF_8))
                    .toArray(String[]::new);
            answer(exchange, segments, query(exchange.getRequestURI()));
        }
    }

    private void answer(HttpExchange exchange, String[] path, Map<String, String> query) throws IOException {
        String namespace = query.getOrDefault("namespace", "default");
        String what = path[2];
        awaitPlace(query.get("at"));
        String agent = path.length == 4 ? path[3] : query.getOrDefault("agent", "general");
        if (what.equals("agents") && path.length == 3) {
            send(exchange, 200, Map.of("agents", List.of(agent("general"), agent("explore"))));
        } else if (what.equals("tools") && query.containsKey("name")) {
            send(
                    exchange,
                    200,
                    Map.of("tools", query.get("name").equals("write_file") ? List.of(WRITE_FILE) : List.of()));
        } else if ((what.equals("agents") || what.equals("tools")) && !agent.equals("general")) {
            problem(exchange, Problem.of(404, "unknown_agent", "Unknown agent", "There is none."));
        } else if (what.equals("agents")) {
            send(exchange, 200, agent(agent));
        } else if (what.equals("tools")) {
            send(exchange, 200, Map.of("tools", List.of(Map.of("name", "current_time", "query", query))));
        } else if (what.equals("usage") && "nonsense".equals(query.get("groupBy"))) {
            problem(exchange, Problem.of(400, "bad_parameter", "Bad", "groupBy: that is nothing to group by"));
        } else if (what.equals("usage")) {
            send(exchange, 200, Map.of("total", Map.of("query", query)));
        } else if (what.equals("system")) {
            send(
                    exchange,
                    200,
                    Map.of(
                            "version",
                            "1",
                            "instance",
                            "stub",
                            "draining",
                            false,
                            "lanes",
                            List.of(),
                            "toolsets",
                            List.of()));
        } else if (what.equals("namespaces")) {
            send(exchange, 200, Map.of("namespaces", List.of("acme", "default", "rival", "zeta")));
        } else if (what.equals("machine")) {
            send(exchange, 200, Map.of("states", List.of(), "moves", List.of()));
        } else if (what.equals("task-counts")) {
            // what it was asked for, in the one place of the answer where there are names
            Map<String, Integer> asked = new LinkedHashMap<>();
            query.forEach((name, value) -> asked.put(name + "=" + value, 1));
            send(exchange, 200, Map.of("states", asked, "complete", true));
        } else if (what.equals("sessions") || what.equals("session")) {
            sessions(exchange, path, namespace, query);
        } else if (what.equals("tasks") && query.getOrDefault("sessionId", "").startsWith("talk-")) {
            tasksOf(exchange, query);
        } else if (what.equals("tasks") && path.length == 3) {
            if ("nonsense".equals(query.get("before"))) {
                problem(exchange, Problem.of(400, "bad_parameter", "Bad", "before: that is no cursor"));
                return;
            }
            Map<String, @Nullable Object> page = new LinkedHashMap<>();
            page.put("tasks", List.of(Map.of("query", query)));
            page.put("next", null);
            send(exchange, 200, page);
        } else if (what.equals("schedules")) {
            schedules(exchange, path, query);
        } else if (what.equals("rules")) {
            rules(exchange, path);
        } else if (what.equals("events")) {
            chain(exchange, path[3]);
        } else if (what.equals("queue")) {
            queue(exchange, path, namespace, query);
        } else if (what.equals("approvals")) {
            send(exchange, 200, Map.of("approvals", List.of(Map.of("query", query))));
        } else if (what.equals("approval")) {
            approval(exchange, namespace, query.getOrDefault("callId", ""));
        } else {
            List<JournalEntry> known = List.copyOf(journal);
            List<JournalEntry> history = known.stream()
                    .filter(entry -> entry.event().namespace().equals(namespace))
                    .filter(entry -> path[3].equals(taskOf(entry.event())))
                    .toList();
            if (history.isEmpty()) {
                problem(exchange, Problem.of(404, "unknown_task", "Unknown task", "There is none."));
            } else if (path.length == 4) {
                send(exchange, 200, view(history));
            } else if (path[4].equals("history")) {
                send(exchange, 200, Map.of("history", List.of(Map.of("query", query))));
            } else {
                events(exchange, known, history, query.get("after"));
            }
        }
    }

    private void sessions(HttpExchange exchange, String[] path, String namespace, Map<String, String> query)
            throws IOException {
        String wanted = query.get("sessionId");
        List<JournalEntry> said = journal.stream()
                .filter(entry -> entry.event().namespace().equals(namespace))
                .filter(entry -> entry.event().sessionId() != null)
                .filter(entry -> wanted == null || wanted.equals(entry.event().sessionId()))
                .toList();
        if (path[2].equals("sessions")) {
            Map<String, @Nullable Object> page = new LinkedHashMap<>();
            page.put(
                    "sessions", said.stream().map(StubAgent::session).distinct().toList());
            page.put("next", null);
            send(exchange, 200, page);
        } else if (said.isEmpty()) {
            problem(exchange, Problem.of(404, "unknown_session", "Unknown session", "There is none."));
        } else if (path.length == 3) {
            send(exchange, 200, session(said.getFirst()));
        } else {
            Map<String, @Nullable Object> page = new LinkedHashMap<>();
            page.put(
                    "messages",
                    said.stream().map(entry -> message(entry, query)).toList());
            page.put("next", null);
            send(exchange, 200, page);
        }
    }

    private static Map<String, @Nullable Object> session(JournalEntry entry) {
        Map<String, @Nullable Object> session = new LinkedHashMap<>();
        session.put("sessionId", entry.event().sessionId());
        session.put("namespace", entry.event().namespace());
        session.put("title", entry.event().text("title"));
        session.put("createdAt", 1L);
        session.put("updatedAt", 2L);
        return session;
    }

    /** What the query was stands in the content. */
    private static Map<String, Object> message(JournalEntry entry, Map<String, String> query) {
        return Map.of(
                "id",
                entry.event().id(),
                "role",
                "user",
                "content",
                query.getOrDefault("from", "") + "-" + query.getOrDefault("to", "") + "/" + query.get("limit"),
                "timestamp",
                3L,
                "taskId",
                taskOf(entry.event()),
                "cursor",
                entry.cursor().toString());
    }

    private void tasksOf(HttpExchange exchange, Map<String, String> query) throws IOException {
        List<List<JournalEntry>> histories = historiesOf(query.getOrDefault("sessionId", ""));
        int from = Integer.parseInt(query.getOrDefault("before", "0"));
        int to = Math.min(histories.size(), from + Integer.parseInt(query.getOrDefault("limit", "50")));
        Map<String, @Nullable Object> page = new LinkedHashMap<>();
        page.put("tasks", histories.stream().map(StubAgent::view).toList().subList(from, to));
        page.put("next", to < histories.size() ? Integer.toString(to) : null);
        send(exchange, 200, page);
    }

    private List<List<JournalEntry>> historiesOf(String sessionId) {
        Map<String, List<JournalEntry>> histories = journal.stream()
                .filter(entry -> sessionId.equals(entry.event().sessionId()))
                .collect(
                        Collectors.groupingBy(entry -> taskOf(entry.event()), LinkedHashMap::new, Collectors.toList()));
        return List.copyOf(histories.values());
    }

    private void awaitPlace(@Nullable String at) {
        JournalCursor place = at == null ? null : JournalCursor.parse(at).orElseThrow();
        while (place != null
                && journal.stream().noneMatch(entry -> entry.cursor().equals(place))
                && !closed) {
            Thread.onSpinWait();
        }
    }

    /** Of what is known: what comes while this answers is neither told nor passed over. */
    private static void events(
            HttpExchange exchange, List<JournalEntry> known, List<JournalEntry> history, @Nullable String after)
            throws IOException {
        JournalCursor from = after == null ? null : JournalCursor.parse(after).orElseThrow();
        int partition = history.getFirst().cursor().partition();
        JournalCursor upTo = known.stream()
                .map(JournalEntry::cursor)
                .filter(cursor -> cursor.partition() == partition)
                .max(JournalCursor::compareTo)
                .orElseThrow();
        Predicate<JournalEntry> later = entry -> from == null || entry.cursor().compareTo(from) > 0;
        List<JournalEntry> rest = history.stream().filter(later).toList();
        List<JournalEntry> page = rest.subList(0, Math.min(PAGE, rest.size()));
        boolean more = rest.size() > PAGE;
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("events", page.stream().map(JournalEntry::toJson).toList());
        json.put("next", more ? page.getLast().cursor().toString() : null);
        json.put("upTo", more ? null : upTo.toString());
        send(exchange, 200, json);
    }

    /** There is one, called report. */
    private static void rules(HttpExchange exchange, String[] path) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        Map<String, Object> rule = Map.of("id", "orders", "version", exchange.getRequestMethod() + " " + body);
        if (path.length == 3) {
            send(exchange, 200, Map.of("rules", List.of(rule)));
        } else if (path[3].equals("orders")) {
            send(exchange, exchange.getRequestMethod().equals("PUT") ? 201 : 200, rule);
        } else {
            problem(
                    exchange,
                    switch (exchange.getRequestMethod()) {
                        case "PUT" -> Problem.of(422, "invalid_rule", "No good", "other.on: no");
                        case "DELETE" -> Problem.of(409, "not_a_definition", "Not a definition", "built in");
                        default -> Problem.of(404, "unknown_rule", "Unknown rule", "There is none.");
                    });
        }
    }

    private static void schedules(HttpExchange exchange, String[] path, Map<String, String> query) throws IOException {
        Map<String, Object> report = new LinkedHashMap<>(
                Map.of("name", "report", "namespace", "default", "cron", "@daily", "zone", "UTC", "missed", "one"));
        report.putAll(Map.of("missedLimit", 100, "overlap", "allow", "paused", false, "next", List.of()));
        report.put("changedAt", "2026-11-23T12:00:00Z");
        report.put(
                "text",
                exchange.getRequestMethod() + " "
                        + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        if (path.length == 3) {
            send(exchange, 200, Map.of("schedules", List.of(report)));
        } else if (!path[3].equals("report")) {
            problem(
                    exchange,
                    exchange.getRequestMethod().equals("PUT")
                            ? new Problem(
                                    422, "invalid_schedule", "No good", "cron: no", Map.of("problems", List.of("no")))
                            : Problem.of(404, "unknown_schedule", "Unknown schedule", "There is none."));
        } else if (path.length == 5 && path[4].equals("event")) {
            send(
                    exchange,
                    200,
                    EventJson.toJson(
                            Event.root(query.getOrDefault("id", ""), KnownEventType.SCHEDULE_FIRED, Instant.EPOCH)
                                    .sessionId("daily")
                                    .payload(Map.of("text", "go"))
                                    .build()));
        } else {
            send(exchange, exchange.getRequestMethod().equals("PUT") ? 201 : 200, report);
        }
    }

    /** An event of the journal, as an item that has failed if its task has, and is completed otherwise. */
    private void queue(HttpExchange exchange, String[] path, String namespace, Map<String, String> query)
            throws IOException {
        if (path.length == 3 && query.getOrDefault("sessionId", "").startsWith("talk-")) {
            processing(exchange, query);
            return;
        }
        if (path.length == 3) {
            // what it was asked for, in the one place of the answer where there is any text
            send(exchange, 200, Map.of("items", List.of(), "next", new TreeMap<>(query).toString()));
            return;
        }
        String id = query.getOrDefault("eventId", "");
        Event event = journal.stream()
                .map(JournalEntry::event)
                .filter(one -> one.namespace().equals(namespace) && one.id().equals(id))
                .findFirst()
                .orElse(null);
        if (event == null) {
            problem(exchange, Problem.of(404, "unknown_event", "Unknown event", "There is none."));
            return;
        }
        if (path[3].equals("event")) {
            send(exchange, 200, EventJson.toJson(event));
            return;
        }
        boolean failed = journal.stream()
                .map(JournalEntry::event)
                .anyMatch(one -> id.equals(one.taskId()) && one.type() == KnownEventType.TASK_FAILED);
        Map<String, @Nullable Object> item = new LinkedHashMap<>();
        item.put("id", id);
        item.put("type", event.type().wireName());
        item.put("payload", event.fields());
        item.put("status", failed ? "failed" : "completed");
        item.put("priority", 700);
        item.put("namespace", namespace);
        item.put("createdAt", 1L);
        item.put("updatedAt", 2L);
        send(exchange, 200, item);
    }

    /** What is worked on in a session; of each page as many are looked at as it may have. */
    private void processing(HttpExchange exchange, Map<String, String> query) throws IOException {
        List<Map<String, @Nullable Object>> items = new ArrayList<>();
        int from = Integer.parseInt(query.getOrDefault("before", "0"));
        List<List<JournalEntry>> histories = historiesOf(query.getOrDefault("sessionId", ""));
        int to = Math.min(histories.size(), from + Integer.parseInt(query.getOrDefault("limit", "50")));
        for (List<JournalEntry> history : histories.subList(from, to)) {
            Map<String, @Nullable Object> view = view(history);
            if (Set.of("reasoning", "acting", "suspended").contains(String.valueOf(view.get("state")))) {
                view.keySet().retainAll(Set.of("taskId", "waitingFor"));
                view.put("status", query.get("status"));
                items.add(view);
            }
        }
        Map<String, @Nullable Object> page = new LinkedHashMap<>();
        page.put("items", items);
        page.put("next", to < histories.size() ? Integer.toString(to) : null);
        send(exchange, 200, page);
    }

    private void chain(HttpExchange exchange, String eventId) throws IOException {
        Deque<JournalEntry> chain = new ArrayDeque<>();
        for (String id = eventId; id != null; ) {
            String wanted = id;
            JournalEntry found = journal.stream()
                    .filter(entry -> entry.event().id().equals(wanted))
                    .findFirst()
                    .orElse(null);
            id = found == null ? null : found.event().parentEventId();
            if (found != null) {
                chain.addFirst(found);
            }
        }
        if (chain.isEmpty()) {
            problem(exchange, Problem.of(404, "unknown_event", "Unknown event", "There is none."));
        } else {
            send(
                    exchange,
                    200,
                    Map.of("chain", chain.stream().map(JournalEntry::toJson).toList()));
        }
    }

    private void approval(HttpExchange exchange, String namespace, String callId) throws IOException {
        List<Event> said = journal.stream()
                .map(JournalEntry::event)
                .filter(event -> event.namespace().equals(namespace) && callId.equals(event.text("callId")))
                .toList();
        Event requested = said.stream()
                .filter(event -> event.type() == KnownEventType.APPROVAL_REQUESTED)
                .findFirst()
                .orElse(null);
        if (requested == null) {
            problem(exchange, Problem.of(404, "unknown_approval", "Unknown approval", "There is none."));
            return;
        }
        Event decided = said.stream()
                .filter(event -> event.type() == KnownEventType.APPROVAL_DECIDED)
                .findFirst()
                .orElse(null);
        String state = stateOf(journal.stream()
                .filter(entry -> taskOf(entry.event()).equals(taskOf(requested)))
                .toList());
        Map<String, @Nullable Object> json = new LinkedHashMap<>(requested.fields());
        json.put("taskId", taskOf(requested));
        json.put("sessionId", requested.sessionId());
        json.put("open", decided == null && state.equals("suspended"));
        json.put("taskState", state);
        json.put("decided", decided == null ? null : decided.fields());
        send(exchange, 200, json);
    }

    private static Map<String, @Nullable Object> view(List<JournalEntry> history) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        Event last = history.getLast().event();
        view.put("taskId", taskOf(last));
        view.put("sessionId", last.sessionId());
        view.put("state", stateOf(history));
        if (last.fields().get("waitingFor") instanceof Map<?, ?> told) {
            view.put("waitingFor", told);
        } else if (last.type() == KnownEventType.APPROVAL_REQUESTED) {
            view.put("waitingFor", Map.of("kind", "approval"));
        } else if (last.text("question") != null) {
            view.put("waitingFor", Map.of("kind", "answer"));
        }
        view.put("response", last.fields().get("result") instanceof Map<?, ?> result ? result.get("response") : null);
        view.put("lastCursor", history.getLast().cursor().toString());
        return view;
    }

    private static String stateOf(List<JournalEntry> history) {
        String state = "reasoning";
        for (JournalEntry entry : history) {
            String moved = entry.event().text("toState");
            state = switch (entry.event().type().wireName()) {
                case "TASK_STATE_CHANGED" -> moved == null ? state : moved;
                case "TASK_COMPLETED" -> "completed";
                case "TASK_CANCELLED" -> "cancelled";
                default -> state;
            };
        }
        return state;
    }

    private static String taskOf(Event event) {
        return event.taskId() == null ? event.id() : event.taskId();
    }

    private static Map<String, ?> agent(String name) {
        return Map.of("name", name, "description", "An agent.", "tools", List.of("current_time"));
    }

    private static Map<String, String> query(URI uri) {
        return uri.getRawQuery() == null
                ? Map.of()
                : Arrays.stream(uri.getRawQuery().split("&", -1))
                        .map(pair -> pair.split("=", 2))
                        .collect(Collectors.toMap(
                                pair -> pair[0], pair -> URLDecoder.decode(pair[1], StandardCharsets.UTF_8)));
    }

    private static void problem(HttpExchange exchange, Problem problem) throws IOException {
        send(exchange, problem.status(), problem.toJson("/stub"));
    }

    private static void send(HttpExchange exchange, int status, Object json) throws IOException {
        byte[] body = Json.write(json);
        exchange.sendResponseHeaders(status, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
