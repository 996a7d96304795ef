package dev.millrace.gateway.config;

import dev.millrace.gateway.access.ApiKeyFile;
import dev.millrace.gateway.access.ApiKeys;
import dev.millrace.gateway.access.AuthMode;
import dev.millrace.gateway.access.Login;
import dev.millrace.gateway.access.WebTokens;
import dev.millrace.http.Loopback;
import io.quarkus.runtime.Startup;
import io.quarkus.runtime.configuration.ConfigurationException;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import org.eclipse.microprofile.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the login of what an operator has set; what makes no sense, or would be open by mistake, ends the start. */
@Dependent
class AccessWiring {
    private static final Logger LOGGER = LoggerFactory.getLogger(AccessWiring.class);

    private static final String KEY = "millrace.gateway.auth";

    // before anything connects to brokers, which would complain of its own end
    @Produces
    @Singleton
    @Startup(Interceptor.Priority.APPLICATION)
    Login login(GatewayConfig config, Config all) {
        AuthMode mode = config.auth().orElse(AuthMode.NONE);
        return switch (mode) {
            case NONE -> {
                requireNothingElse(config);
                requireOnPurpose(
                        config.auth().isPresent(),
                        all.getOptionalValue("quarkus.http.host", String.class).orElse("127.0.0.1"));
                yield Login.open();
            }
            case KEY -> {
                Path file = config.authKeysFile()
                        .orElseThrow(
                                () -> wrong("-keys-file: expected a file of keys, found none; ./millrace keys create"
                                        + " makes one"));
                yield Login.required(keys(file), null);
            }
            case JWT ->
                Login.required(config.authKeysFile().map(AccessWiring::keys).orElse(null), tokens(config));
        };
    }

    /** Whoever names a file of keys believes that they count. */
    private static void requireNothingElse(GatewayConfig config) {
        if (config.authKeysFile().isPresent()
                || config.authIssuer().isPresent()
                || config.authJwks().isPresent()) {
            throw wrong(": expected key or jwt, since there are keys or an issuer, found none");
        }
    }

    private static void requireOnPurpose(boolean said, String host) {
        if (Loopback.is(host)) {
            return;
        }
        if (!said) {
            throw wrong(
                    ": the gateway listens on " + host + " (quarkus.http.host), for other machines, too: expected key"
                            + " or jwt, or none if everybody who can connect may do everything (docs/security.md)");
        }
        LOGGER.warn("Everybody who can connect to the gateway may do everything: {} is none", KEY);
    }

    private static ApiKeys keys(Path file) {
        try {
            return new ApiKeys(new ApiKeyFile(file), Clock.systemUTC());
        } catch (IOException e) {
            throw new ConfigurationException(KEY + "-keys-file: cannot be read: " + e.getMessage(), e);
        }
    }

    private static WebTokens tokens(GatewayConfig config) {
        URI jwks = needed("-jwks", config.authJwks());
        String host = jwks.getHost();
        boolean safe = host != null
                && ("https".equals(jwks.getScheme()) || ("http".equals(jwks.getScheme()) && Loopback.is(host)));
        if (!safe) {
            throw wrong("-jwks: expected an https URL (http of this machine will do), found " + jwks);
        }
        return new WebTokens(new WebTokens.Trusted(
                jwks,
                needed("-issuer", config.authIssuer()),
                needed("-audience", config.authAudience()),
                config.authClaim()));
    }

    private static <T> T needed(String suffix, Optional<T> value) {
        return value.orElseThrow(() -> wrong(suffix + ": expected for " + KEY + "=jwt, found nothing"));
    }

    private static ConfigurationException wrong(String what) {
        return new ConfigurationException(KEY + what);
    }
}
