package dev.millrace.bench;

import dev.millrace.bench.CurvesWorkload.Curve;
import dev.millrace.bench.CurvesWorkload.Row;
import java.util.List;
import java.util.Locale;

/**
 * A curve as SVG: milliseconds of CPU and kilobytes per task, side by side, from 0 up, over a logarithmic axis. The
 * colours are readable on light and on dark.
 *
 * @param axis what the horizontal axis says
 */
record CurvePicture(String axis, List<Point> points) {

    private static final int WIDTH = 320;
    private static final int LEFT = 50;
    private static final int RIGHT = WIDTH - 20;
    private static final int TOP = 40;
    private static final int BOTTOM = 190;

    /** What was measured at a place of the horizontal axis, which begins at 1. */
    record Point(int value, double cpuMs, double kilobytes) {}

    CurvePicture {
        points = List.copyOf(points);
    }

    static CurvePicture of(Curve curve, List<Row> rows) {
        return new CurvePicture(
                curve.axis(),
                rows.stream()
                        .map(row -> new Point(
                                row.value(),
                                row.measured().cpuMsPerTask(),
                                row.measured().bytesPerTask() == null
                                        ? 0
                                        : row.measured().bytesPerTask() / 1_000.0))
                        .toList());
    }

    String toSvg() {
        return """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d 240" font-family="sans-serif" font-size="11">
                <style>
                text { fill: #24292f } path, line { stroke: #57606a; fill: none }
                .curve { stroke: #0969da; stroke-width: 2 } circle { fill: #0969da }
                @media (prefers-color-scheme: dark) {
                text { fill: #e6edf3 } path, line { stroke: #8b949e } .curve { stroke: #58a6ff } circle { fill: #58a6ff }
                }
                </style>
                %s%s</svg>
                """.formatted(
                        2 * WIDTH,
                        panel(
                                0,
                                "CPU per task, ms",
                                points.stream().mapToDouble(Point::cpuMs).toArray()),
                        panel(
                                WIDTH,
                                "written per task, KB",
                                points.stream().mapToDouble(Point::kilobytes).toArray()));
    }

    private String panel(int shift, String title, double[] values) {
        double most = 0;
        for (double value : values) {
            most = Math.max(most, value);
        }
        double unit = most == 0 ? 1 : Math.pow(10, Math.floor(Math.log10(most)));
        double top = unit * Math.max(1, Math.ceil(1.05 * most / unit));
        StringBuilder svg = new StringBuilder("<g transform=\"translate(%d 0)\">\n".formatted(shift));
        text(svg, LEFT, 20, "start", title);
        text(svg, (LEFT + RIGHT) / 2.0, BOTTOM + 36, "middle", axis);
        svg.append("<path d=\"M%d %dV%dH%d\"/>\n".formatted(LEFT, TOP, BOTTOM, RIGHT));
        for (int tick = 0; tick <= 2; tick++) {
            double y = BOTTOM - (BOTTOM - TOP) * tick / 2.0;
            svg.append("<line x1=\"%d\" x2=\"%d\" y1=\"%s\" y2=\"%s\"/>\n"
                    .formatted(LEFT - 4, LEFT, number(y), number(y)));
            text(svg, LEFT - 7, y + 4, "end", number(top * tick / 2));
        }
        StringBuilder curve = new StringBuilder();
        for (int i = 0; i < values.length; i++) {
            double x = x(points.get(i).value());
            double y = BOTTOM - (BOTTOM - TOP) * values[i] / top;
            curve.append(i == 0 ? 'M' : 'L').append(number(x)).append(' ').append(number(y));
            svg.append("<circle cx=\"%s\" cy=\"%s\" r=\"3\"/>\n".formatted(number(x), number(y)));
            text(svg, x, y - 7, "middle", number(values[i]));
            text(
                    svg,
                    x,
                    BOTTOM + 16,
                    "middle",
                    String.format(Locale.ROOT, "%,d", points.get(i).value()));
        }
        return svg.append("<path class=\"curve\" d=\"%s\"/>\n</g>\n".formatted(curve))
                .toString();
    }

    private double x(int value) {
        double first = Math.log(points.getFirst().value());
        double last = Math.log(points.getLast().value());
        double share = last == first ? 0.5 : (Math.log(value) - first) / (last - first);
        return LEFT + 15 + share * (RIGHT - LEFT - 25);
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
        svg.append(
                "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>\n".formatted(number(x), number(y), anchor, text));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
