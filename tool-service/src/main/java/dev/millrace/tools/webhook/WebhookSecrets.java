package dev.millrace.tools.webhook;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What webhooks are signed with. Safe for any thread. */
public final class WebhookSecrets {

    private final List<String> configured;
    private final @Nullable Path file;

    /**
     * These secrets, and those of a file.
     *
     * @param file one secret a line; read for each delivery, so that a change needs no restart. {@code null} = none
     */
    public WebhookSecrets(List<String> configured, @Nullable Path file) {
        this.configured = configured.stream()
                .map(String::strip)
                .filter(secret -> !secret.isEmpty())
                .toList();
        this.file = file;
    }

    /** All of them, in order; may be empty. */
    List<String> all() {
        List<String> all = new ArrayList<>(configured);
        if (file != null) {
            try {
                Files.readAllLines(file).stream()
                        .map(String::strip)
                        .filter(secret -> !secret.isEmpty())
                        .forEach(all::add);
            } catch (IOException e) {
                throw new UncheckedIOException("the file of webhook secrets cannot be read", e);
            }
        }
        return all;
    }
}
