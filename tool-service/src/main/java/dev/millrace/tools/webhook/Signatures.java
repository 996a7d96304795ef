package dev.millrace.tools.webhook;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs as Standard Webhooks has it: HMAC-SHA256 over id, time and body. */
final class Signatures {

    private static final String ENCODED = "whsec_";

    private Signatures() {}

    /**
     * The value of the header {@code webhook-signature}: one signature for each secret, so that a receiver may have the
     * old or the new one while they are changed.
     *
     * @param secrets {@code whsec_} and base64, or any text
     */
    static String of(String id, long timestampSeconds, String body, List<String> secrets) {
        byte[] signed = (id + '.' + timestampSeconds + '.' + body).getBytes(StandardCharsets.UTF_8);
        return secrets.stream()
                .map(secret -> "v1," + Base64.getEncoder().encodeToString(hmac(key(secret), signed)))
                .collect(Collectors.joining(" "));
    }

    private static byte[] key(String secret) {
        return secret.startsWith(ENCODED)
                ? Base64.getDecoder().decode(secret.substring(ENCODED.length()))
                : secret.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] hmac(byte[] key, byte[] signed) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(signed);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has HmacSHA256", e);
        }
    }
}
