package dev.millrace.schemas;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC-SHA256 over webhooks: those that go out, as Standard Webhooks has it, and those that come in. */
public final class WebhookSignatures {

    private static final String ENCODED = "whsec_";

    private WebhookSignatures() {}

    /**
     * The value of the header {@code webhook-signature}: one signature for each secret, so that a receiver may have the
     * old or the new one while they are changed.
     *
     * @param secrets {@code whsec_} and base64, or any text
     */
    public static String of(String id, long timestampSeconds, String body, List<String> secrets) {
        byte[] signed = (id + '.' + timestampSeconds + '.' + body).getBytes(StandardCharsets.UTF_8);
        return secrets.stream()
                .map(secret -> "v1," + Base64.getEncoder().encodeToString(hmac(key(secret), signed)))
                .collect(Collectors.joining(" "));
    }

    /**
     * What is signed with, as Standard Webhooks has it.
     *
     * @param secret {@code whsec_} and base64, or any text
     * @throws IllegalArgumentException if it begins so and what follows is no base64
     */
    public static byte[] key(String secret) {
        return secret.startsWith(ENCODED)
                ? Base64.getDecoder().decode(secret.substring(ENCODED.length()))
                : secret.getBytes(StandardCharsets.UTF_8);
    }

    /** HMAC-SHA256, 32 bytes. */
    public static byte[] hmac(byte[] key, byte[]... signed) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            for (byte[] part : signed) {
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has HmacSHA256", e);
        }
    }
}
