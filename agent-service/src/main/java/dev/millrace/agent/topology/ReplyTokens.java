package dev.millrace.agent.topology;

import dev.millrace.agent.core.Usage;
import dev.millrace.engine.RejectedRecordException;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.Payload;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Signs calls, and says which replies are believed: those that show the token of the call that they are for. It follows
 * from the call, so that nothing has to be stored, and is the same on every replay (ADR 0049). For one thread.
 */
final class ReplyTokens {

    static final String ALGORITHM = "HmacSHA256";

    /** As much of a signature as nobody can guess, in bytes. */
    private static final int BYTES = 16;

    private final List<Mac> macs;
    private final boolean required;

    /**
     * Tokens by these keys.
     *
     * @param keys the first one signs; empty = nothing is signed or looked at
     * @param required whether a reply without a token is refused, too
     */
    ReplyTokens(List<SecretKeySpec> keys, boolean required) {
        this.macs = keys.stream().map(ReplyTokens::mac).toList();
        this.required = required;
    }

    /** What a token stands for. */
    private record Call(String taskId, String callId) {}

    /** The header with which an event asks for a reply, or is one; empty if it is neither, or nothing is signed. */
    Map<String, String> header(Event event) {
        Call call = macs.isEmpty() ? null : call(event);
        return call == null
                ? Map.of()
                : Map.of(EventCodec.CE_PREFIX + Extensions.REPLY_TOKEN, token(macs.getFirst(), event, call));
    }

    /** The same within the event. */
    Event signed(Event event) {
        Call call = macs.isEmpty() ? null : call(event);
        return call == null ? event : event.with(Extensions.REPLY_TOKEN, token(macs.getFirst(), event, call));
    }

    /**
     * The event without its token, which is for nobody else to see.
     *
     * @throws RejectedRecordException if it answers a call and may not
     */
    Event believed(Event event) throws RejectedRecordException {
        String shown = event.extensions().get(Extensions.REPLY_TOKEN);
        Call call = macs.isEmpty() ? null : call(event);
        if (call != null && (shown == null ? required : !isRight(shown, event, call))) {
            throw new RejectedRecordException(
                    ErrorCode.BAD_REPLY_TOKEN.code(),
                    "expected the header " + EventCodec.CE_PREFIX + Extensions.REPLY_TOKEN
                            + " as the request had it, found " + (shown == null ? "none" : "another one"));
        }
        return shown == null ? event : event.with(Extensions.REPLY_TOKEN, null);
    }

    private boolean isRight(String shown, Event event, Call call) {
        byte[] bytes = shown.getBytes(StandardCharsets.UTF_8);
        return macs.stream()
                .anyMatch(mac ->
                        MessageDigest.isEqual(bytes, token(mac, event, call).getBytes(StandardCharsets.UTF_8)));
    }

    /** The call that an event asks for or answers, or whose child it starts; {@code null} = none of these. */
    private static @Nullable Call call(Event event) {
        Parentage parent = Parentage.of(event, Usage.NONE);
        if (parent != null) {
            return new Call(parent.taskId(), parent.callId());
        }
        String taskId = event.taskId();
        String callId =
                switch (event.payload()) {
                    case Payload.ToolCallRequested requested -> requested.callId();
                    case Payload.ToolCallCompleted completed -> completed.callId();
                    case Payload.ToolCallFailed failed -> failed.callId();
                    case Payload.ModelCallOutcome outcome -> outcome.callId();
                    case Payload.BackgroundTaskEnded ended -> ended.callId();
                    default -> null;
                };
        return taskId == null || callId == null ? null : new Call(taskId, callId);
    }

    private static String token(Mac mac, Event event, Call call) {
        // neither a namespace nor an id has a line end
        String signed = event.namespace() + '\n' + call.taskId() + '\n' + call.callId();
        byte[] signature = mac.doFinal(signed.getBytes(StandardCharsets.UTF_8));
        return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(signature, BYTES));
    }

    private static Mac mac(SecretKeySpec key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has " + ALGORITHM, e);
        }
    }
}
