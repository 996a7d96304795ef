package dev.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.bench.CurvePicture.Point;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

class CurveTest {

    @Test
    void shouldDrawBothCostsWithUnitsOverALogarithmicAxis() throws Exception {
        // when
        String svg = new CurvePicture(
                        "tasks kept", List.of(new Point(10, 2, 20), new Point(100, 2, 20), new Point(1_000, 4, 10)))
                .toSvg();

        // then
        Document parsed = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
        assertThat(parsed.getElementsByTagName("circle").getLength()).isEqualTo(6);
        assertThat(svg)
                .contains(
                        "CPU per task, ms",
                        "written per task, KB",
                        "tasks kept",
                        ">1,000<",
                        "prefers-color-scheme: dark")
                // evenly apart, and the largest below the top
                .contains("cx=\"65.0\"", "cx=\"177.5\"", "cx=\"290.0\"", "d=\"M65.0 130.0L177.5 130.0L290.0 70.0\"");
    }

    @Test
    void shouldDrawAPointAlone() {
        assertThat(new CurvePicture("partitions", List.of(new Point(1, 0, 0))).toSvg())
                .contains("cx=\"177.5\" cy=\"190.0\"");
    }
}
