package dev.millrace.standalone.cli;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Draws events as the tree that {@code parentEventId} makes of them: what caused what, in the order of the journal. */
final class EventTree {

    /** What is said of an event at least, however deep it is in the tree and however narrow the terminal. */
    private static final int LEAST_SUMMARY = 40;

    /** Of an id so much is shown at least, if it does not have to be shown whole. */
    private static final int SHORT_ID = 8;

    /** An event that waits to be drawn, and where. */
    private record Pending(ToldEvent event, String prefix, String branch, String childPrefix) {}

    private final List<ToldEvent> events;
    private final Set<String> ids = new HashSet<>();
    private final int columns;
    private final boolean verbose;
    private final long begin;
    private final int idLength;

    private EventTree(List<ToldEvent> events, int columns, boolean verbose) {
        this.events = events;
        events.forEach(event -> ids.add(event.id()));
        this.columns = columns;
        this.verbose = verbose;
        this.begin = events.isEmpty() ? 0 : events.getFirst().timestamp();
        this.idLength = idLength(ids);
    }

    /**
     * One line per event, which fits into so many columns if it can, with as much of its id as tells it from the
     * others. An event whose parent is not among them is a root.
     */
    static List<String> lines(List<ToldEvent> events, int columns) {
        return new EventTree(events, columns, false).lines();
    }

    /** The same with whole ids and, beneath each event, everything that is in it. */
    static List<String> verbose(List<ToldEvent> events) {
        return new EventTree(events, 0, true).lines();
    }

    private List<String> lines() {
        List<ToldEvent> roots = new ArrayList<>();
        Map<String, List<ToldEvent>> children = new LinkedHashMap<>();
        for (ToldEvent event : events) {
            String parent = event.event().parentEventId();
            if (parent != null && ids.contains(parent) && !parent.equals(event.id())) {
                children.computeIfAbsent(parent, any -> new ArrayList<>()).add(event);
            } else {
                roots.add(event);
            }
        }
        List<String> lines = new ArrayList<>();
        // a stack instead of recursion: a chain of a thousand rounds is a legal history
        Deque<Pending> pending = new ArrayDeque<>();
        roots.reversed().forEach(root -> pending.push(new Pending(root, "", "", "")));
        Set<String> drawn = new HashSet<>();
        while (!pending.isEmpty()) {
            Pending next = pending.pop();
            String id = next.event().id();
            lines.add(line(next));
            // a record that was journalled twice has its children under the first
            List<ToldEvent> below = drawn.add(id) ? children.getOrDefault(id, List.of()) : List.of();
            if (verbose) {
                String margin = next.childPrefix() + (below.isEmpty() ? "    " : "│   ");
                EventText.fields(next.event()).forEach(field -> lines.add(margin + field));
            }
            for (int i = below.size() - 1; i >= 0; i--) {
                boolean last = i == below.size() - 1;
                pending.push(new Pending(
                        below.get(i),
                        next.childPrefix(),
                        last ? "└ " : "├ ",
                        next.childPrefix() + (last ? "  " : "│ ")));
            }
        }
        return lines;
    }

    /** The event in one line, cut so that it fits if it can. */
    private String line(Pending at) {
        ToldEvent event = at.event();
        String start = at.prefix() + at.branch() + event.type();
        String end = "  +" + Progress.duration(event.timestamp() - begin) + "  " + id(event);
        String summary = verbose
                ? ""
                : Progress.cut(
                        EventText.summary(event), Math.max(LEAST_SUMMARY, columns - start.length() - end.length() - 2));
        return start + (summary.isEmpty() ? "" : "  " + summary) + end;
    }

    private String id(ToldEvent event) {
        return verbose
                ? event.id()
                : event.id().substring(0, Math.min(idLength, event.id().length()));
    }

    /** So many characters tell all ids apart. */
    private static int idLength(Set<String> ids) {
        int longest = ids.stream().mapToInt(String::length).max().orElse(0);
        int length = SHORT_ID;
        while (length < longest) {
            int most = length;
            if (ids.stream()
                            .map(id -> id.substring(0, Math.min(most, id.length())))
                            .distinct()
                            .count()
                    == ids.size()) {
                return length;
            }
            length++;
        }
        return length;
    }
}
