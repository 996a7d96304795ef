package dev.millrace.tools.secrets;

import dev.millrace.http.guarded.HostPattern;
import dev.millrace.tool.api.ToolException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The secrets of the installation, by name. A model writes {@code {{secret:NAME}}} where a secret is to stand; it is
 * put there only for hosts that the operator has named for it, so that nobody can be talked into sending it elsewhere.
 * Safe for any thread.
 */
public final class Secrets {

    /** No secrets. */
    public static final Secrets NONE = new Secrets(List.of());

    private static final Pattern PLACE = Pattern.compile("\\{\\{\\s*secret:([A-Za-z0-9_.-]{1,100})\\s*}}");
    private static final String PLAIN = "http://";
    /** A shorter value would mask half of an ordinary text. */
    private static final int SHORTEST_MASKED = 4;

    private final List<Secret> all;
    private final List<Mask> masks = new ArrayList<>();

    /**
     * A secret.
     *
     * @param name letters, digits, {@code _}, {@code .} and {@code -}
     * @param value not empty
     * @param hosts where it may be sent, such as {@code api.example.com} or {@code *.example.com}, by HTTPS only; with
     *     {@code http://} before it also unencrypted
     * @param namespaces whose calls may use it; empty = all
     */
    public record Secret(String name, String value, List<String> hosts, Set<String> namespaces) {
        public Secret {
            hosts = List.copyOf(hosts);
            namespaces = Set.copyOf(namespaces);
        }

        private boolean isOf(@Nullable String namespace) {
            return namespaces.isEmpty() || (namespace != null && namespaces.contains(namespace));
        }

        private boolean isFor(URI url) {
            boolean encrypted = "https".equalsIgnoreCase(url.getScheme());
            String host = String.valueOf(url.getHost());
            return hosts.stream()
                    .anyMatch(entry -> entry.startsWith(PLAIN)
                            ? new HostPattern(entry.substring(PLAIN.length())).matches(host)
                            : encrypted && new HostPattern(entry).matches(host));
        }

        @Override
        public String toString() {
            return "Secret[name=" + name + "]";
        }
    }

    private record Mask(String text, String instead) {}

    /**
     * These secrets. Of those with one name a namespace has the one that is for it, or else the one that is for all.
     *
     * @throws IllegalArgumentException if one has no value, or two have the same name for the same namespace
     */
    public Secrets(List<Secret> secrets) {
        // those that are for somebody come before those that are for all
        all = secrets.stream()
                .sorted(Comparator.comparing(
                        (Secret secret) -> secret.namespaces().isEmpty()))
                .toList();
        requireOneForEach();
        for (Secret secret : secrets) {
            if (secret.value().isEmpty()) {
                throw new IllegalArgumentException("millrace.tools.secrets." + secret.name() + ": expected a value");
            }
            String instead = "[secret " + secret.name() + "]";
            byte[] bytes = secret.value().getBytes(StandardCharsets.UTF_8);
            Set<String> forms = new LinkedHashSet<>();
            forms.add(secret.value());
            forms.add(URLEncoder.encode(secret.value(), StandardCharsets.UTF_8));
            for (Base64.Encoder encoder : List.of(Base64.getEncoder(), Base64.getUrlEncoder())) {
                forms.add(encoder.withoutPadding().encodeToString(bytes));
                for (int before = 0; before < 3; before++) {
                    forms.add(within(encoder, bytes, before));
                }
            }
            forms.stream()
                    .filter(form -> form.length() >= SHORTEST_MASKED)
                    .forEach(form -> masks.add(new Mask(form, instead)));
        }
        // a secret that is a part of another one must not uncover the rest of it
        masks.sort(Comparator.comparingInt((Mask mask) -> mask.text().length()).reversed());
    }

    private void requireOneForEach() {
        Set<String> taken = new HashSet<>();
        for (Secret secret : all) {
            for (String namespace : secret.namespaces().isEmpty() ? Set.of("*") : secret.namespaces()) {
                if (!taken.add(secret.name() + ' ' + namespace)) {
                    throw new IllegalArgumentException("millrace.tools.secrets: expected one secret \"" + secret.name()
                            + "\" for the namespace " + namespace + ", found two");
                }
            }
        }
    }

    /**
     * What base64 makes of a value wherever it lies in something larger, such as {@code user:value}: what it alone
     * decides.
     */
    private static String within(Base64.Encoder encoder, byte[] value, int before) {
        byte[] larger = new byte[before + value.length];
        System.arraycopy(value, 0, larger, before, value.length);
        int first = (before * 8 + 5) / 6;
        int end = larger.length * 8 / 6;
        return end <= first ? "" : encoder.encodeToString(larger).substring(first, end);
    }

    /**
     * The text with the secrets in their places.
     *
     * @param url where it will be sent
     * @param namespace of the task whose call it is for; {@code null} = of none, so that what is for all is there alone
     * @throws ToolException with code {@code unknown_secret} or {@code secret_refused}
     */
    public String fill(String text, URI url, @Nullable String namespace) throws ToolException {
        StringBuilder filled = new StringBuilder();
        int end = 0;
        for (MatchResult place : PLACE.matcher(text).results().toList()) {
            Secret secret = of(place.group(1), namespace);
            if (!secret.isFor(url)) {
                throw new ToolException(
                        "secret_refused",
                        "The secret \"" + secret.name() + "\" may not be sent to " + url.getScheme() + "://"
                                + url.getHost());
            }
            filled.append(text, end, place.start()).append(secret.value());
            end = place.end();
        }
        return filled.append(text, end, text.length()).toString();
    }

    /** That of another namespace is as if it were not there. */
    private Secret of(String name, @Nullable String namespace) throws ToolException {
        return all.stream()
                .filter(secret -> secret.name().equals(name) && secret.isOf(namespace))
                .findFirst()
                .orElseThrow(() -> new ToolException("unknown_secret", "There is no secret \"" + name + "\""));
    }

    /** The text with a note instead of each secret, also of those written in base64 or for a URL. */
    public String mask(String text) {
        String masked = text;
        for (Mask mask : masks) {
            masked = masked.replace(mask.text(), mask.instead());
        }
        return masked;
    }

    /** The same for all texts in JSON values, names of fields included. */
    public @Nullable Object maskAll(@Nullable Object json) {
        if (masks.isEmpty()) {
            return json;
        }
        return switch (json) {
            case null -> null;
            case String text -> mask(text);
            case Map<?, ?> object -> {
                Map<String, @Nullable Object> masked = new LinkedHashMap<>();
                object.forEach((name, value) -> masked.put(mask(String.valueOf(name)), maskAll(value)));
                yield masked;
            }
            case List<?> list -> {
                List<@Nullable Object> masked = new ArrayList<>();
                list.forEach(value -> masked.add(maskAll(value)));
                yield masked;
            }
            default -> json;
        };
    }
}
