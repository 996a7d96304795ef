package dev.millrace.standalone.cli;

import dev.millrace.schemas.Durations;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 500ms}, {@code 90s}, {@code 10m} or {@code 2h}; a bare number is seconds. */
final class DurationConverter implements ITypeConverter<Duration> {

    @Override
    public Duration convert(String text) {
        return Durations.parse(text)
                .orElseThrow(
                        () -> new TypeConversionException("expected a time such as 90s or 10m, found '" + text + "'"));
    }
}
