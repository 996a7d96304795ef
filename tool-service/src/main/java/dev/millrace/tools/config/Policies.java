package dev.millrace.tools.config;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tools.ToolPolicies;
import dev.millrace.tools.ToolPolicies.Policy;
import dev.millrace.tools.secrets.Secrets;
import dev.millrace.tools.webhook.WebhookSecrets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Turns what the configuration says about single tools and secrets into objects. */
final class Policies {

    private Policies() {}

    static ToolPolicies of(ToolsConfig config) {
        ToolDefinition.Retry retry = new ToolDefinition.Retry(
                config.retry().maxAttempts(), config.retry().delay().toMillis());
        Map<String, Policy> byTool = new TreeMap<>();
        config.tool().forEach((name, tool) -> byTool.put(name, policy(name, tool, retry)));
        return new ToolPolicies(
                byTool, new Policy(null, Policy.DEFAULT.maxConcurrent(), Policy.DEFAULT.maxPerMinute(), retry));
    }

    private static Policy policy(String name, ToolsConfig.PerTool tool, ToolDefinition.Retry retry) {
        try {
            ToolDefinition.@Nullable Retry own = tool.maxAttempts().isPresent()
                    ? new ToolDefinition.Retry(tool.maxAttempts().getAsInt(), retry.initialDelayMs())
                    : null;
            return new Policy(
                    tool.approval().map(ToolPolicies::approval).orElse(null),
                    tool.maxConcurrent(),
                    tool.maxPerMinute(),
                    own);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("millrace.tools.tool." + name + ": " + e.getMessage(), e);
        }
    }

    static Secrets secrets(ToolsConfig config) {
        List<Secrets.Secret> secrets = new ArrayList<>();
        config.secrets()
                .forEach((entry, secret) -> secrets.add(new Secrets.Secret(
                        secret.name().orElse(entry),
                        value(entry, secret),
                        secret.hosts(),
                        secret.namespaces().orElse(Set.of()))));
        return new Secrets(secrets);
    }

    static WebhookSecrets webhookSecrets(ToolsConfig.Webhook webhook) {
        if (webhook.secrets().isPresent() || webhook.secretsFile().isPresent()) {
            throw new IllegalArgumentException("millrace.tools.webhook.secrets: expected secrets of each receiver"
                    + " (millrace.tools.webhook.receivers.<name>.urls and .secrets), found some for all of them: each"
                    + " receiver could pass on to the others what it was sent, and they would take it");
        }
        List<WebhookSecrets.Receiver> receivers = new ArrayList<>();
        webhook.receivers()
                .forEach((name, receiver) -> receivers.add(new WebhookSecrets.Receiver(
                        name,
                        receiver.urls(),
                        receiver.secrets().orElse(List.of()),
                        receiver.secretsFile().orElse(null))));
        return new WebhookSecrets(receivers);
    }

    private static String value(String name, ToolsConfig.Secret secret) {
        return secret.value()
                .or(() -> secret.file().map(Policies::read))
                .orElseThrow(() -> new IllegalArgumentException(
                        "millrace.tools.secrets." + name + ": expected a value or a file, found neither"));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new UncheckedIOException("the file of a secret cannot be read: " + file, e);
        }
    }
}
