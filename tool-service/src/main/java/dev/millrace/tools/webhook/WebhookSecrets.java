package dev.millrace.tools.webhook;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What webhooks are signed with: each receiver has secrets of its own, so that nobody can pass on what he was sent and
 * have it taken for something that was sent to another. Safe for any thread.
 */
public final class WebhookSecrets {

    private final List<Receiver> receivers;

    /**
     * A receiver.
     *
     * @param name for people
     * @param urls what its URLs begin with: scheme, host, port and whole names of the path
     * @param secrets {@code whsec_} and base64, or any text; may be empty
     * @param file one more secret a line; read for each delivery, so that a change needs no restart. {@code null} =
     *     none
     */
    public record Receiver(
            String name,
            List<URI> urls,
            List<String> secrets,
            @Nullable Path file) {

        public Receiver(String name, List<URI> urls, List<String> secrets, @Nullable Path file) {
            this.name = name;
            this.urls = urls.stream().map(URI::normalize).toList();
            this.secrets = stripped(secrets);
            this.file = file;
            for (URI url : urls) {
                boolean usable = url.getHost() != null
                        && ("http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme()))
                        && url.getRawQuery() == null
                        && url.getRawFragment() == null;
                if (!usable) {
                    throw new IllegalArgumentException(key(name) + ".urls: expected http or https URLs without a query,"
                            + " such as https://example.org/hooks, found \"" + url + "\"");
                }
            }
            if (urls.isEmpty()) {
                throw new IllegalArgumentException(key(name) + ".urls: expected at least one, found none");
            }
        }

        /** How much of the target is named; 0 = it is somebody else's. */
        private int fit(URI target) {
            return urls.stream()
                    .mapToInt(url -> begins(url, target) ? 1 + path(url).length() : 0)
                    .max()
                    .orElse(0);
        }

        private List<String> all() {
            List<String> all = new ArrayList<>(secrets);
            if (file != null) {
                try {
                    all.addAll(stripped(Files.readAllLines(file)));
                } catch (IOException e) {
                    throw new UncheckedIOException("the file of webhook secrets cannot be read", e);
                }
            }
            return all;
        }

        @Override
        public String toString() {
            return "Receiver[name=" + name + "]";
        }
    }

    /**
     * These receivers.
     *
     * @throws IllegalArgumentException if two have the same secret or the same URL
     */
    public WebhookSecrets(List<Receiver> receivers) {
        this.receivers = List.copyOf(receivers);
        Set<String> taken = new HashSet<>();
        for (Receiver receiver : receivers) {
            for (String secret : Set.copyOf(receiver.secrets())) {
                if (!taken.add("secret " + secret)) {
                    throw new IllegalArgumentException(key(receiver.name())
                            + ".secrets: expected secrets of its own, found one that another receiver has: each of the two"
                            + " could pass on to the other what it was sent");
                }
            }
            for (URI url : Set.copyOf(receiver.urls())) {
                if (!taken.add("url " + url)) {
                    throw new IllegalArgumentException(
                            key(receiver.name()) + ".urls: " + url + " belongs to another receiver already");
                }
            }
        }
    }

    /** What is sent to this URL is signed with these, in order; empty if it belongs to no receiver. */
    List<String> of(URI target) {
        return receivers.stream()
                .filter(receiver -> receiver.fit(target) > 0)
                .max(Comparator.comparingInt(receiver -> receiver.fit(target)))
                .map(Receiver::all)
                .orElse(List.of());
    }

    private static boolean begins(URI url, URI target) {
        String raw = Objects.requireNonNullElse(target.getRawPath(), "").toLowerCase(Locale.ROOT);
        // what a server may take for a way to somewhere else
        boolean odd = raw.contains("%2e") || raw.contains("%2f") || raw.contains("%5c");
        String asked = path(target.normalize()) + '/';
        return !odd
                && target.getHost() != null
                && url.getHost().equalsIgnoreCase(target.getHost())
                && url.getScheme().equalsIgnoreCase(target.getScheme())
                && port(url) == port(target)
                && asked.startsWith(path(url) + '/')
                && !asked.startsWith("/..");
    }

    /** Without slashes at the end. */
    private static String path(URI url) {
        String path = Objects.requireNonNullElse(url.getRawPath(), "");
        int end = path.length();
        while (end > 0 && path.charAt(end - 1) == '/') {
            end--;
        }
        return path.substring(0, end);
    }

    private static int port(URI url) {
        if (url.getPort() >= 0) {
            return url.getPort();
        }
        return "https".equalsIgnoreCase(url.getScheme()) ? 443 : 80;
    }

    private static List<String> stripped(List<String> secrets) {
        return secrets.stream()
                .map(String::strip)
                .filter(secret -> !secret.isEmpty())
                .toList();
    }

    private static String key(String name) {
        return "millrace.tools.webhook.receivers." + name;
    }
}
