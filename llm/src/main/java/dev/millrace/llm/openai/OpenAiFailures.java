package dev.millrace.llm.openai;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.langchain4j.exception.ContentFilteredException;
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
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The one place that says what an endpoint's refusals and silences mean. No message holds the key. */
final class OpenAiFailures {

    private static final JsonMapper JSON = new JsonMapper();
    private static final int LONGEST_QUOTE = 500;
    private static final Pattern OVERFLOW = Pattern.compile(
            "context_length_exceeded|context (?:length|window|size)|prompt is too long|too many (?:input )?tokens",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern FILTERED =
            Pattern.compile("content_filter|content management policy|content_policy", Pattern.CASE_INSENSITIVE);

    private final URI baseUrl;
    private final @Nullable Secret key;

    OpenAiFailures(URI baseUrl, @Nullable Secret key) {
        this.baseUrl = baseUrl;
        this.key = key;
    }

    ModelCallException timeout(Duration timeout, String settingsKey, Exception cause) {
        return new ModelCallException(
                ModelErrorCode.TIMEOUT,
                "no reply from " + baseUrl + " within " + timeout.toMillis() + " ms (" + SettingRules.PREFIX
                        + settingsKey + ")",
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
        String said = saidBy(body);
        String where = baseUrl + " answered HTTP " + status;
        String quoted = where + (said.isEmpty() ? "" : ": " + said);
        return switch (status) {
            case 401, 403 ->
                // what the endpoint says may quote the key
                new ModelCallException(
                        ModelErrorCode.AUTH_FAILED,
                        key == null
                                ? where + " and wants a key; set OPENAI_API_KEY"
                                : where + ": it does not accept the key; check OPENAI_API_KEY");
            case 404 ->
                new ModelCallException(
                        ModelErrorCode.MODEL_NOT_FOUND, quoted + "; check MILLRACE_MODEL and OPENAI_BASE_URL");
            case 408 -> retryable(ModelErrorCode.TIMEOUT, quoted, headers);
            case 429 ->
                body.contains("insufficient_quota")
                        ? new ModelCallException(ModelErrorCode.RATE_LIMITED, quoted, false, null, null)
                        : retryable(ModelErrorCode.RATE_LIMITED, quoted, headers);
            default -> {
                if (status >= 500) {
                    yield retryable(ModelErrorCode.MODEL_UNAVAILABLE, quoted, headers);
                }
                if (status < 400) {
                    yield new ModelCallException(
                            ModelErrorCode.BAD_REQUEST, where + ", a redirect; check OPENAI_BASE_URL");
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

    /** For whatever LangChain4j threw: ours if it only carried it, else a reply that it could not read. */
    ModelCallException unreadable(RuntimeException thrown) {
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            if (t instanceof ModelCallFailure carrier) {
                return carrier.failure();
            }
            if (t instanceof ContentFilteredException) {
                return new ModelCallException(
                        ModelErrorCode.CONTENT_FILTERED, "the model refused: " + quote(t.getMessage()), false, null, t);
            }
        }
        return new ModelCallException(
                ModelErrorCode.BAD_RESPONSE,
                baseUrl + " answered with what is no chat completion: " + quote(thrown.getMessage()),
                true,
                null,
                thrown);
    }

    private static ModelCallException retryable(ModelErrorCode code, String message, HttpHeaders headers) {
        return new ModelCallException(code, message, true, retryAfter(headers, Instant.now()), null);
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
            JsonNode error = JSON.readTree(body).path("error");
            String message =
                    error.isTextual() ? error.asText() : error.path("message").asText();
            return quote(message.isEmpty() ? body : message);
        } catch (JsonProcessingException e) {
            return quote(body);
        }
    }

    private String quote(@Nullable String text) {
        String clean = text == null ? "" : text.strip();
        if (key != null) {
            clean = clean.replace(key.value(), "***");
        }
        return clean.length() <= LONGEST_QUOTE ? clean : clean.substring(0, LONGEST_QUOTE) + "…";
    }
}
