package dev.millrace.telemetry.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Redaction;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.formatters.PatternFormatter;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RedactionFilterTest {

    private static final RedactionFilter FILTER =
            new RedactionFilter(Redaction.named(Map.of("digits", "\\d{4,}", "name", "Ada L\\.")));

    @Test
    void shouldRedactTheMessageWithItsArguments() {
        LogRecord plain = new LogRecord(Level.INFO, "from {0} to {1}");
        plain.setParameters(new Object[] {"12345", "Ada L."});
        ExtLogRecord printed = new ExtLogRecord(Level.INFO, "%s 100%%", ExtLogRecord.FormatStyle.PRINTF, "test");
        printed.setParameters(new Object[] {12345});

        assertThat(written(plain)).isEqualTo("from [redacted:digits] to [redacted:name]");
        assertThat(written(printed)).isEqualTo("[redacted:digits] 100%");
    }

    @Test
    void shouldLeaveWhatDoesNotMatch() {
        LogRecord plain = new LogRecord(Level.INFO, "from {0}");
        plain.setParameters(new Object[] {12});
        plain.setThrown(new IllegalStateException("no"));

        assertThat(written(plain)).isEqualTo("from 12");
        assertThat(plain.getThrown()).isExactlyInstanceOf(IllegalStateException.class);
        assertThat(plain.getMessage()).isEqualTo("from {0}");
    }

    @Test
    void shouldRedactWhatARecordCarriesBesideIt() {
        ExtLogRecord record = new ExtLogRecord(Level.INFO, "said", "test");
        record.setMdc(Map.of("user", "Ada L."));

        written(record);

        assertThat(record.getMdc("user")).isEqualTo("[redacted:name]");
    }

    @Test
    @DisplayName("exceptions: what they say, their causes and what they suppressed; the places stay")
    void shouldRedactExceptions() {
        IllegalStateException thrown = new IllegalStateException("broken", new IllegalArgumentException("found 12345"));
        thrown.addSuppressed(new IllegalArgumentException("and Ada L."));
        LogRecord record = new LogRecord(Level.INFO, "failed");
        record.setThrown(thrown);

        written(record);

        StringWriter trace = new StringWriter();
        record.getThrown().printStackTrace(new PrintWriter(trace));
        assertThat(trace.toString())
                .contains(
                        "java.lang.IllegalStateException: broken",
                        "Caused by: java.lang.IllegalArgumentException: found [redacted:digits]",
                        "Suppressed: java.lang.IllegalArgumentException: and [redacted:name]",
                        "at " + RedactionFilterTest.class.getName() + ".shouldRedactExceptions(")
                .doesNotContain("12345")
                .doesNotContain("Ada L.");
    }

    private static String written(LogRecord record) {
        assertThat(FILTER.isLoggable(record)).isTrue();
        return new PatternFormatter("%s").formatMessage(record);
    }
}
