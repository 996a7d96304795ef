package dev.millrace.http;

import io.smallrye.config.ConfigMapping;
import java.util.List;
import java.util.Optional;

/** Who is answered over HTTP. The address to listen on is Quarkus' own key, {@code quarkus.http.host}. */
@ConfigMapping(prefix = "millrace.http")
public interface HttpConfig {

    /**
     * Names that this server is reached by, as they stand in the header Host, without a port; {@code *} stands for any
     * text. {@code localhost}, loopback addresses and the address that a connection came in at are answered anyway, any
     * other is a 421. Absent = no further ones.
     */
    Optional<List<String>> allowedHosts();

    /**
     * What services show agent-service, whose {@code /internal} answers nobody else then; the same for all of them, 32
     * characters or more. Absent = whoever can connect is answered. {@code ./millrace up} draws its own.
     */
    Optional<String> internalSecret();
}
