package dev.millrace.telemetry.config;

import dev.millrace.schemas.Redaction;
import io.quarkus.logging.LoggingFilter;
import java.util.HashMap;
import java.util.Map;
import java.util.logging.Filter;
import java.util.logging.LogRecord;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jboss.logmanager.ExtFormatter;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.formatters.PatternFormatter;
import org.jspecify.annotations.Nullable;

/**
 * Lets all log records through, without what {@link RedactionConfig} names: in the message with its arguments, in what
 * a record carries beside it, and in what exceptions say. For any thread.
 */
@LoggingFilter(name = "millrace-redaction")
public final class RedactionFilter implements Filter {

    /** How deep causes are followed; whoever builds a longer chain, or a ring, is told no more of it. */
    private static final int DEEPEST = 20;

    /** Puts the arguments into messages, of whatever style. */
    private static final ExtFormatter FORMATTER = new PatternFormatter("%s");

    private final Redaction redaction;

    /** As the configuration of this process says; Quarkus makes it when it sets up its logs. */
    public RedactionFilter() {
        this(configured(ConfigProvider.getConfig()));
    }

    private static Redaction configured(Config config) {
        Map<String, String> settings = new HashMap<>();
        for (String name : config.getPropertyNames()) {
            if (name.startsWith(Redaction.PREFIX)) {
                config.getOptionalValue(name, String.class).ifPresent(regex -> settings.put(name, regex));
            }
        }
        return Redaction.of(settings);
    }

    RedactionFilter(Redaction redaction) {
        this.redaction = redaction;
    }

    @Override
    public boolean isLoggable(LogRecord record) {
        if (redaction.isEmpty()) {
            return true;
        }
        String message = FORMATTER.formatMessage(record);
        String left = message == null ? null : redaction.text(message);
        if (left != null && !left.equals(message)) {
            record.setParameters(null);
            if (record instanceof ExtLogRecord ext) {
                ext.setMessage(left, ExtLogRecord.FormatStyle.NO_FORMAT);
            } else {
                record.setMessage(left);
            }
        }
        if (record instanceof ExtLogRecord ext) {
            Map<String, String> carried = new HashMap<>(ext.getMdcCopy());
            carried.replaceAll((key, value) -> redaction.text(value));
            ext.setMdc(carried);
        }
        if (record.getThrown() != null && isIn(record.getThrown(), 0)) {
            record.setThrown(new Said(record.getThrown(), redaction, 0));
        }
        return true;
    }

    private boolean isIn(@Nullable Throwable thrown, int depth) {
        if (thrown == null || depth > DEEPEST) {
            return thrown != null;
        }
        String said = thrown.toString();
        if (!redaction.text(said).equals(said) || isIn(thrown.getCause(), depth + 1)) {
            return true;
        }
        for (Throwable suppressed : thrown.getSuppressed()) {
            if (isIn(suppressed, depth + 1)) {
                return true;
            }
        }
        return false;
    }

    /** What another exception says, without what matches, from the same place. */
    private static final class Said extends Exception {

        private static final long serialVersionUID = 1;

        private final String text;

        Said(Throwable origin, Redaction redaction, int depth) {
            super(origin.getMessage() == null ? null : redaction.text(origin.getMessage()));
            text = redaction.text(origin.toString());
            setStackTrace(origin.getStackTrace());
            if (depth < DEEPEST) {
                if (origin.getCause() != null) {
                    initCause(new Said(origin.getCause(), redaction, depth + 1));
                }
                for (Throwable suppressed : origin.getSuppressed()) {
                    addSuppressed(new Said(suppressed, redaction, depth + 1));
                }
            }
        }

        @Override
        @SuppressWarnings("OverrideThrowableToString") // what is printed begins with the origin's class, not with this
        public String toString() {
            return text;
        }
    }
}
