package dev.millrace.agent.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.type.TypeReference;
import dev.millrace.agent.projection.UsageQuery.Dimension;
import dev.millrace.agent.projection.UsageReport;
import dev.millrace.api.UsageSums;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How use is asked for and told, in words. */
final class UsageParameters {

    /** Stands for every namespace. */
    static final String ALL = "*";

    private static final TypeReference<Map<String, Object>> SUMS = new TypeReference<>() {};
    private static final String DIMENSIONS =
            Arrays.stream(Dimension.values()).map(Dimension::wireName).collect(Collectors.joining(", "));

    private UsageParameters() {}

    /**
     * A moment in Unix milliseconds.
     *
     * @param text RFC 3339, or a day, which begins at midnight in UTC; {@code null} = none
     */
    static @Nullable Long moment(String name, @Nullable String text) {
        if (text == null) {
            return null;
        }
        try {
            Instant moment = text.length() == "2026-01-31".length()
                    ? LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant()
                    // a plus sign that was not escaped in a query has become a space
                    : OffsetDateTime.parse(text.replace(' ', '+')).toInstant();
            if (moment.isBefore(Instant.EPOCH)) {
                throw new DateTimeException("before 1970");
            }
            return moment.toEpochMilli();
        } catch (DateTimeException | ArithmeticException e) {
            throw new IllegalArgumentException(
                    name + ": expected a moment such as 2026-01-31T08:00:00Z, or a day such as 2026-01-31, found \""
                            + text + "\"",
                    e);
        }
    }

    /** Dimensions with commas between them. */
    static List<Dimension> groupBy(@Nullable String text) {
        List<Dimension> dimensions = new ArrayList<>();
        for (String name : text == null ? List.<String>of() : Arrays.asList(text.split(",", -1))) {
            Dimension dimension = Dimension.of(name.strip())
                    .filter(one -> !dimensions.contains(one))
                    .orElseThrow(() -> new IllegalArgumentException(
                            "groupBy: expected each once of " + DIMENSIONS + ", found \"" + text + "\""));
            dimensions.add(dimension);
        }
        return dimensions;
    }

    /**
     * The report as the gateway hands it on.
     *
     * @param groups what each names itself by, and its sums; {@code null} = no groups were asked for
     */
    record Shown(
            String from,
            String to,
            UsageSums total,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            List<JsonObject> groups) {
        static Shown of(UsageReport report) {
            return new Shown(
                    Instant.ofEpochMilli(report.from()).toString(),
                    Instant.ofEpochMilli(report.to()).toString(),
                    report.total(),
                    report.groupBy().isEmpty()
                            ? null
                            : report.groups().stream()
                                    .map(group -> shown(report, group))
                                    .toList());
        }
    }

    private static JsonObject shown(UsageReport report, UsageReport.Group group) {
        JsonObject.Builder json = JsonObject.builder();
        for (int i = 0; i < group.names().size(); i++) {
            String name = group.names().get(i);
            json.put(field(report.groupBy().get(i)), name.isEmpty() ? null : name);
        }
        return json.putAll(Json.MAPPER.convertValue(group.sums(), SUMS)).build();
    }

    private static String field(Dimension dimension) {
        return switch (dimension) {
            case SESSION -> "sessionId";
            case TASK -> "taskId";
            default -> dimension.wireName();
        };
    }
}
