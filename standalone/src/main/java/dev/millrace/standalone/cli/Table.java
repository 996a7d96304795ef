package dev.millrace.standalone.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Rows under a heading, columns as wide as what is in them. */
final class Table {
    private final List<List<String>> rows = new ArrayList<>();

    Table(String... heading) {
        rows.add(List.of(heading));
    }

    /** Adds a row with as many cells as the heading. */
    void add(String... cells) {
        rows.add(List.of(cells));
    }

    /** One line per row, the heading first. */
    List<String> lines() {
        int[] widths = new int[rows.getFirst().size() - 1];
        rows.forEach(row -> {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        });
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private static String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String cell = row.get(column);
            line.append(cell).append(" ".repeat(widths[column] - cell.length() + 2));
        }
        return line.append(row.getLast()).toString();
    }

    /** How long ago this moment was, in Unix milliseconds. */
    static String age(long millis, Instant now) {
        return span(Duration.between(Instant.ofEpochMilli(millis), now));
    }

    /** A span of time in one unit; a negative one counts as zero. */
    static String span(Duration span) {
        long seconds = Math.max(0, span.toSeconds());
        if (seconds < 120) {
            return seconds + " s";
        }
        if (seconds < 7_200) {
            return seconds / 60 + " min";
        }
        return seconds < 172_800 ? seconds / 3_600 + " h" : seconds / 86_400 + " d";
    }
}
