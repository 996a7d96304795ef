package dev.millrace.llm.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.Secret;
import dev.millrace.llm.SettingRules;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The one place that says what an endpoint's refusals and silences mean. No message holds the key. */
final class ProviderFailures {

    private static final JsonMapper JSON = new JsonMapper();
    private static final int LONGEST_QUOTE = 500;
    private static final Pattern OVERFLOW = Pattern.compile(
            "context_length_exceeded|context (?:length|window|size|limit)|prompt is too long|too many (?:input )?tokens"
                    + "|exceeds? the (?:maximum|available) (?:number of tokens|context)",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern SPENT =
            Pattern.compile("insufficient_quota|credit balance is too low|billing_error", Pattern.CASE_INSENSITIVE);
    private static final Pattern BAD_KEY =
            Pattern.compile("API_KEY_INVALID|API key not valid", Pattern.CASE_INSENSITIVE);
    private static final Pattern RETRY_DELAY = Pattern.compile("\"retryDelay\"\\s*:\\s*\"([0-9]+(?:\\.[0-9]+)?)s\"");
    private static final Map<String, Integer> STATUSES = Map.ofEntries(
            Map.entry("overloaded_error", 529),
            Map.entry("api_error", 500),
            Map.entry("server_error", 500),
            Map.entry("timeout_error", 408),
            Map.entry("rate_limit_error", 429),
            Map.entry("rate_limit_exceeded", 429),
            Map.entry("insufficient_quota", 429),
            Map.entry("authentication_error", 401),
            Map.entry("invalid_api_key", 401),
            Map.entry("permission_error", 403),
            Map.entry("not_found_error", 404),
            Map.entry("model_not_found", 404),
            Map.entry("request_too_large", 413),
            Map.entry("invalid_request_error", 400),
            Map.entry("context_length_exceeded", 400),
            Map.entry("UNAVAILABLE", 503),
            Map.entry("INTERNAL", 500),
            Map.entry("RESOURCE_EXHAUSTED", 429),
            Map.entry("UNAUTHENTICATED", 401),
            Map.entry("PERMISSION_DENIED", 403),
            Map.entry("NOT_FOUND", 404),
            Map.entry("INVALID_ARGUMENT", 400));
    private static final Pattern FILTERED =
            Pattern.compile("content_filter|content management policy|content_policy", Pattern.CASE_INSENSITIVE);

    private final RemoteSettings settings;
    private final URI baseUrl;
    private final @Nullable Secret key;

    ProviderFailures(RemoteSettings settings) {
        this.settings = settings;
        this.baseUrl = settings.baseUrl();
        this.key = settings.apiKey();
    }

    ModelCallException timeout(Duration timeout, String settingsKey, Exception cause) {
        return new ModelCallException(
                ModelErrorCode.TIMEOUT,
                "no reply from " + baseUrl + " within " + timeout.toMillis() + " ms (" + SettingRules.PREFIX
                        + settings.timeouts().prefix() + settingsKey + ")",
                true,
                null,
                cause);
    }

    ModelCallException unreachable(Throwable cause) {
        String reason = cause.getMessage() == null ? "" : ": " + cause.getMessage();
        return new ModelCallException(
                ModelErrorCode.MODEL_UNAVAILABLE,
                "cannot reach " + baseUrl + " (" + cause.getClass().getSimpleName() + reason + ")",
                true,
                null,
                cause);
    }

    /** For a status other than 2xx. */
    ModelCallException refused(int status, String body, HttpHeaders headers) {
        Duration wait = retryAfter(headers, Instant.now());
        return refused(status, body, saidBy(body), wait == null ? delayIn(body) : wait);
    }

    /** For an error where a reply was expected, or in the middle of one. */
    ModelCallException midway(JsonNode error) {
        String body = error.toString();
        return refused(
                statusOf(error), body, quote(error.isTextual() ? error.asText() : saidIn(error, body)), delayIn(body));
    }

    private ModelCallException refused(int status, String body, String said, @Nullable Duration wait) {
        String where = baseUrl + " answered HTTP " + status;
        String quoted = where + (said.isEmpty() ? "" : ": " + said);
        if (status == 401 || status == 403 || BAD_KEY.matcher(body).find()) {
            // what the endpoint says may quote the key
            return new ModelCallException(
                    ModelErrorCode.AUTH_FAILED,
                    key == null
                            ? where + " and wants a key; set " + settings.keyName()
                            : where + ": it does not accept the key; check " + settings.keyName());
        }
        if (status >= 500) {
            return retryable(ModelErrorCode.MODEL_UNAVAILABLE, quoted, wait);
        }
        if (status < 400) {
            return new ModelCallException(ModelErrorCode.BAD_REQUEST, where + ", a redirect; check the base URL");
        }
        return switch (status) {
            case 404 ->
                new ModelCallException(
                        ModelErrorCode.MODEL_NOT_FOUND,
                        quoted + "; check the name of the model (" + settings.model() + ") and the base URL");
            case 408 -> retryable(ModelErrorCode.TIMEOUT, quoted, wait);
            case 413 -> new ModelCallException(ModelErrorCode.CONTEXT_OVERFLOW, quoted);
            default -> {
                if (SPENT.matcher(body).find()) {
                    yield new ModelCallException(ModelErrorCode.RATE_LIMITED, quoted, false, null, null);
                }
                if (status == 429) {
                    yield retryable(ModelErrorCode.RATE_LIMITED, quoted, wait);
                }
                yield new ModelCallException(
                        OVERFLOW.matcher(body).find()
                                ? ModelErrorCode.CONTEXT_OVERFLOW
                                : FILTERED.matcher(body).find()
                                        ? ModelErrorCode.CONTENT_FILTERED
                                        : ModelErrorCode.BAD_REQUEST,
                        quoted);
            }
        };
    }

    /** For a stream that ended before its reply did. */
    ModelCallException cutShort() {
        return new ModelCallException(
                ModelErrorCode.MODEL_UNAVAILABLE, baseUrl + " ended the stream before the reply was complete");
    }

    ModelCallException refusal(String words) {
        return new ModelCallException(ModelErrorCode.REFUSED, "the model refused: " + quote(words));
    }

    ModelCallException filtered(String found) {
        return new ModelCallException(
                ModelErrorCode.CONTENT_FILTERED, "the content filter of " + baseUrl + " stopped the reply: " + found);
    }

    /**
     * For a reply that is no reply of a model.
     *
     * @param thrown what came of reading it; null if there was nothing to read
     */
    ModelCallException unreadable(@Nullable Exception thrown) {
        String reason = thrown == null ? "it is empty" : quote(thrown.getMessage());
        return new ModelCallException(
                ModelErrorCode.BAD_RESPONSE,
                baseUrl + " answered with what is no reply of a model: " + reason,
                true,
                null,
                thrown);
    }

    private static ModelCallException retryable(ModelErrorCode code, String message, @Nullable Duration wait) {
        return new ModelCallException(code, message, true, wait, null);
    }

    /** The HTTP status that an error within a reply stands for; 500 if that cannot be told. */
    private static int statusOf(JsonNode error) {
        JsonNode code = error.path("code");
        if (code.isInt() && code.asInt() >= 400 && code.asInt() < 600) {
            return code.asInt();
        }
        for (String member : List.of("type", "status", "code")) {
            Integer status = STATUSES.get(error.path(member).asText(""));
            if (status != null) {
                return status;
            }
        }
        return 500;
    }

    /** Google says in the body how long to wait; null if nobody does. */
    private static @Nullable Duration delayIn(String body) {
        Matcher delay = RETRY_DELAY.matcher(body);
        return delay.find() ? Duration.ofMillis((long) (1000 * Double.parseDouble(delay.group(1)))) : null;
    }

    /** Milliseconds, seconds or a date; null if absent or unreadable. */
    static @Nullable Duration retryAfter(HttpHeaders headers, Instant now) {
        try {
            var millis = headers.firstValue("retry-after-ms");
            if (millis.isPresent()) {
                return Duration.ofMillis(Math.max(0, (long) Double.parseDouble(millis.get())));
            }
            var after = headers.firstValue("retry-after");
            if (after.isEmpty()) {
                return null;
            }
            if (Character.isDigit(after.get().charAt(0))) {
                return Duration.ofMillis((long) (1000 * Double.parseDouble(after.get())));
            }
            Instant date = ZonedDateTime.parse(after.get(), DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.US))
                    .toInstant();
            return date.isAfter(now) ? Duration.between(now, date) : Duration.ZERO;
        } catch (DateTimeException | NumberFormatException | IndexOutOfBoundsException e) {
            return null; // a hint that cannot be read is no hint
        }
    }

    /** {@code error.message}, or the start of the body. */
    private String saidBy(String body) {
        try {
            JsonNode json = JSON.readTree(body);
            JsonNode first = json.isArray() ? json.path(0) : json; // Google's streams answer with an array
            return quote(saidIn(first.path("error"), body));
        } catch (JsonProcessingException e) {
            return quote(body);
        }
    }

    private static String saidIn(JsonNode error, String otherwise) {
        String message =
                error.isTextual() ? error.asText() : error.path("message").asText("");
        return message.isEmpty() ? otherwise : message;
    }

    private String quote(@Nullable String text) {
        String clean = text == null ? "" : text.strip();
        if (key != null) {
            clean = clean.replace(key.value(), "***");
        }
        return clean.length() <= LONGEST_QUOTE ? clean : clean.substring(0, LONGEST_QUOTE) + "…";
    }
}
