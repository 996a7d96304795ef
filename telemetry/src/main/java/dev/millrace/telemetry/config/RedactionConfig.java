package dev.millrace.telemetry.config;

import io.smallrye.config.ConfigMapping;
import java.util.Map;

/**
 * What goes into no log, no span, no dead letter and no webhook. Workers that know nothing of logs and spans read the
 * same keys, see {@link dev.millrace.schemas.Redaction}.
 */
@ConfigMapping(prefix = "millrace.redaction")
public interface RedactionConfig {

    /** Regular expressions in RE2's syntax, by the name that stands in place of what matches. */
    Map<String, String> patterns();
}
