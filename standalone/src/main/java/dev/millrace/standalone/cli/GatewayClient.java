package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.api.Task;
import dev.millrace.client.GatewayHttp;
import dev.millrace.client.Millrace;
import dev.millrace.client.MillraceException;
import dev.millrace.client.RequestRefusedException;
import dev.millrace.client.Route;
import dev.millrace.client.UnreachableException;
import dev.millrace.schemas.Json;
import java.net.ConnectException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.StreamSupport;

/**
 * The client for Java as the commands use it: with paths and JSON, since they print what was answered, and with
 * failures that are {@link CommandException}s.
 */
final class GatewayClient {

    private final URI url;
    private final Millrace millrace;

    /**
     * {@code token} goes with every request; empty = none does. Requests without a tenant of their own are for this
     * one.
     */
    GatewayClient(URI url, String token, String namespace) {
        this.url = url;
        this.millrace =
                Millrace.connect(url.toString(), options -> options.token(token).namespace(namespace));
    }

    /** The client for Java itself, for commands that need more of it; what it throws, {@link #told} puts in words. */
    Millrace millrace() {
        return millrace;
    }

    /** As {@link Hint#of}, for the same Millrace. */
    String hint(String... words) {
        return Hint.of(url, words);
    }

    /** Submits a task and returns its id. */
    String submit(Task.Request task) {
        return done(() -> millrace.start(task).id());
    }

    /** Sends a record of the API and returns the answer as another. */
    <T> T post(String path, Object body, Class<T> type) {
        return done(() -> http().post(new Route(path), body, type));
    }

    /** Sends JSON with these headers. */
    JsonNode post(String path, byte[] json, Map<String, String> headers) {
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.put("Content-Type", "application/json");
        return done(() -> http().post(new Route(path), json, all));
    }

    /** Any resource, as JSON. */
    JsonNode get(String path) {
        return done(() -> http().get(new Route(path)));
    }

    /** Any resource, as a record of the API. */
    <T> T get(String path, Class<T> type) {
        return done(() -> http().get(new Route(path), type));
    }

    /**
     * All pages of a list.
     *
     * @param cursor the parameter that takes what {@code next} said on the page before
     * @param field of each page, which has the list
     */
    ArrayNode pages(Route query, String cursor, String field) {
        ArrayNode all = Json.MAPPER.createArrayNode();
        return done(() -> {
            http().items(query, cursor, field).forEach(all::add);
            return all;
        });
    }

    /** The elements of an array. */
    static <T> List<T> all(JsonNode array, Class<T> type) {
        return each(array, one -> Json.MAPPER.convertValue(one, type));
    }

    /** The elements of an array, read so. */
    static <T> List<T> each(JsonNode array, Function<JsonNode, T> read) {
        return StreamSupport.stream(array.spliterator(), false).map(read).toList();
    }

    /** A resource that is text, with what names its version. */
    GatewayHttp.Text text(String path) {
        return done(() -> http().text(new Route(path)));
    }

    /** Puts a text; the answer, if it is one. */
    JsonNode put(String path, String text, Map<String, String> headers) {
        return done(() -> http().putText(new Route(path), text, headers));
    }

    /** Puts a record of the API, or JSON that is one. */
    JsonNode putJson(String path, Object body) {
        return done(() -> http().put(new Route(path), body));
    }

    /** Puts bytes. */
    JsonNode put(String path, byte[] bytes) {
        return done(() -> http().put(new Route(path), bytes, Map.of("Content-Type", "application/octet-stream")));
    }

    /** Sends nothing but headers. */
    JsonNode postNothing(String path, Map<String, String> headers) {
        return done(() -> http().postNothing(new Route(path), headers));
    }

    /** Takes a resource away; the answer, if it is one. */
    JsonNode delete(String path, Map<String, String> headers) {
        return done(() -> http().delete(new Route(path), headers));
    }

    /** The events of one task, from its first on; with live text or without. */
    EventFeed taskFeed(String taskId, boolean live) {
        return feed(new Route(TaskCommand.path(taskId, "stream")).with("tokens", live ? "stream" : null));
    }

    /** The events of any stream. */
    EventFeed feed(Route stream) {
        return new EventFeed(this, millrace.feed(stream));
    }

    /** The same failure in the words of the command line. */
    CommandException told(String refused, RuntimeException failure) {
        if (failure instanceof RequestRefusedException refusal) {
            return new RefusedException(refusal.status(), refused + words(refusal));
        }
        if (failure instanceof UnreachableException && failure.getCause() instanceof Exception cause) {
            return unreachable(cause);
        }
        if (failure instanceof MillraceException) {
            return new CommandException(ExitCodes.FAILED, String.valueOf(failure.getMessage()));
        }
        throw failure;
    }

    private static String words(RequestRefusedException refusal) {
        String words = String.valueOf(refusal.getMessage());
        return refusal.status() == 401 ? words + " Say it with --token or MILLRACE_TOKEN." : words;
    }

    private <T> T done(Supplier<T> request) {
        try {
            return request.get();
        } catch (MillraceException e) {
            throw told("", e);
        }
    }

    private GatewayHttp http() {
        return millrace.http();
    }

    private CommandException unreachable(Exception cause) {
        String reason = cause instanceof ConnectException ? "nobody listens there" : String.valueOf(cause.getMessage());
        return new CommandException(
                ExitCodes.UNREACHABLE,
                "Cannot reach Millrace at " + url + " (" + reason + "). "
                        + howToStart()
                                .map(command -> "Start it with `" + command + "`, or say")
                                .orElse("Say")
                        + " where it is with --url or " + Hint.URL_VARIABLE + ".");
    }

    /** What makes it answer at the URL; empty if it would be started elsewhere. */
    private Optional<String> howToStart() {
        boolean here =
                LocalToken.LOOPBACK.contains(url.getHost()) && "http".equals(url.getScheme()) && url.getPort() > 0;
        return !here
                ? Optional.empty()
                : Optional.of(
                        url.getPort() == Hint.DEFAULT_URL.getPort()
                                ? Hint.local("up")
                                : Hint.local("up", "--port", Integer.toString(url.getPort())));
    }

    /** The gateway answered, and the answer was no. */
    static final class RefusedException extends CommandException {

        private static final long serialVersionUID = 1L;

        private final int status;

        RefusedException(int status, String detail) {
            super(ExitCodes.FAILED, detail);
            this.status = status;
        }

        /** Whether it is because of this HTTP status. */
        boolean is(int wanted) {
            return status == wanted;
        }
    }
}
