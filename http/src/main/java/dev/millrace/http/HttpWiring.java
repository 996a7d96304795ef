package dev.millrace.http;

import dev.millrace.http.client.InternalSecret;
import io.quarkus.runtime.Startup;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Makes what all services share; what makes no sense ends the start. */
@Dependent
class HttpWiring {

    @Produces
    @Singleton
    @Startup
    InternalSecret secret(HttpConfig config) {
        return config.internalSecret().map(InternalSecret::of).orElseGet(InternalSecret::none);
    }
}
