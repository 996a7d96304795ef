package dev.millrace.gateway.rest.turns;

import dev.millrace.gateway.rest.streams.ClientGoneException;
import org.jspecify.annotations.Nullable;

/**
 * What an agent says, told once: the live text of a model call as it comes, and what the settled reply has beyond it.
 * What a client of OpenAI's has been sent cannot be taken back, so if a call is made again, its new text is held until
 * it has come to where the client is; if it turns out to be another one, it follows as a whole. For one thread.
 */
public final class ChatText {

    private final Sink sink;
    private final StringBuilder sent = new StringBuilder();
    /** What this attempt has said, as long as the client is not where it is. */
    private final StringBuilder held = new StringBuilder();

    private String callId = "";
    private long attempt;
    private Standing standing = Standing.LEVEL;

    /** Where the client is. */
    private enum Standing {
        /** Where the model is. */
        LEVEL,
        /** Further: the model is made to say it again. */
        AHEAD,
        /** Elsewhere: the model says something else this time. */
        ASTRAY
    }

    /** Who is told. */
    @FunctionalInterface
    public interface Sink {

        /** More of the text; {@code begins} = it does not go on from what was said before. */
        void said(String text, boolean begins) throws ClientGoneException, InterruptedException;
    }

    public ChatText(Sink sink) {
        this.sink = sink;
    }

    /** A piece of live text. */
    public void live(String ofCall, long ofAttempt, String delta) throws ClientGoneException, InterruptedException {
        if (!ofCall.equals(callId)) {
            begin(ofCall);
        } else if (ofAttempt != attempt) {
            held.setLength(0);
            standing = sent.isEmpty() ? Standing.LEVEL : Standing.AHEAD;
        }
        attempt = ofAttempt;
        if (standing == Standing.LEVEL) {
            tell(delta);
        } else if (standing == Standing.AHEAD) {
            held.append(delta);
            if (held.length() >= sent.length()) {
                standing = goOn(held.toString()) ? Standing.LEVEL : Standing.ASTRAY;
            }
        }
    }

    /** The reply is settled; this is all of its text. {@code ofCall} null = it belongs to no call. */
    public void whole(@Nullable String ofCall, String text) throws ClientGoneException, InterruptedException {
        if (ofCall == null || !ofCall.equals(callId)) {
            begin("");
        }
        if (!goOn(text)) {
            sink.said(text, true);
        }
        begin("");
    }

    private void begin(String call) {
        callId = call;
        sent.setLength(0);
        held.setLength(0);
        standing = Standing.LEVEL;
    }

    /** Tells what this text has beyond what was told; false if it is another one. */
    private boolean goOn(String text) throws ClientGoneException, InterruptedException {
        if (!text.startsWith(sent.toString())) {
            return false;
        }
        tell(text.substring(sent.length()));
        return true;
    }

    private void tell(String more) throws ClientGoneException, InterruptedException {
        if (!more.isEmpty()) {
            boolean begins = sent.isEmpty();
            sent.append(more);
            sink.said(more, begins);
        }
    }
}
