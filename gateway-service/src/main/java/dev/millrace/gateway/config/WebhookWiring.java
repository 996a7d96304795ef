package dev.millrace.gateway.config;

import dev.millrace.gateway.webhook.WebhookScheme;
import dev.millrace.gateway.webhook.WebhookSource;
import dev.millrace.gateway.webhook.WebhookSources;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.WebhookSignatures;
import io.quarkus.runtime.Startup;
import io.quarkus.runtime.configuration.ConfigurationException;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Makes the sources of webhooks of what an operator has set; what makes no sense ends the start. */
@Dependent
class WebhookWiring {

    // before anything connects to brokers, as the login
    @Produces
    @Singleton
    @Startup(Interceptor.Priority.APPLICATION)
    WebhookSources webhookSources(GatewayConfig config) {
        Map<String, WebhookSource> sources = new HashMap<>();
        config.webhooks().forEach((name, webhook) -> {
            try {
                sources.put(name, source(name, webhook));
            } catch (IllegalArgumentException e) {
                throw new ConfigurationException("millrace.gateway.webhooks." + name + "." + e.getMessage());
            }
        });
        return new WebhookSources(sources);
    }

    private static WebhookSource source(String name, GatewayConfig.Webhook webhook) {
        return new WebhookSource(
                name,
                webhook.scheme(),
                check(webhook),
                new WebhookSource.Mapping(
                        EventType.of(webhook.type()),
                        webhook.namespace(),
                        webhook.session().orElse(null),
                        webhook.template().orElse(null),
                        webhook.agent().orElse(null),
                        webhook.priority().isPresent() ? webhook.priority().getAsInt() : null,
                        Set.copyOf(webhook.only().orElse(List.of())),
                        webhook.idHeader().orElse(null)));
    }

    private static Supplier<WebhookScheme.Check> check(GatewayConfig.Webhook webhook) {
        boolean signed = webhook.scheme() != WebhookScheme.NONE;
        List<String> secrets = stripped(webhook.secrets().orElse(List.of()));
        Path file = webhook.secretsFile().orElse(null);
        if (signed == (secrets.isEmpty() && file == null)) {
            throw new IllegalArgumentException(
                    signed
                            ? "secrets: expected at least one, or a secrets-file, found neither; whoever is to be believed"
                                    + " without says scheme none"
                            : "secrets: expected none with the scheme none, which checks nothing, found some");
        }
        if (webhook.tolerance().isNegative() || webhook.tolerance().isZero()) {
            throw new IllegalArgumentException("tolerance: expected more than zero, found " + webhook.tolerance());
        }
        if (webhook.scheme() == WebhookScheme.STANDARD) {
            for (String secret : secrets) {
                requireKey(secret);
            }
        }
        WebhookScheme.Named named = new WebhookScheme.Named(
                webhook.signatureHeader(), webhook.signaturePrefix().orElse(""), webhook.signatureEncoding());
        return () -> {
            List<String> all = new ArrayList<>(secrets);
            if (file != null) {
                try {
                    all.addAll(stripped(Files.readAllLines(file)));
                } catch (IOException e) {
                    throw new UncheckedIOException("the file of webhook secrets cannot be read", e);
                }
            }
            return new WebhookScheme.Check(all, webhook.tolerance(), named);
        };
    }

    private static void requireKey(String secret) {
        try {
            byte[] unused = WebhookSignatures.key(secret);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("secrets: expected base64 after whsec_, found something else", e);
        }
    }

    private static List<String> stripped(List<String> secrets) {
        return secrets.stream()
                .map(String::strip)
                .filter(secret -> !secret.isEmpty())
                .toList();
    }
}
