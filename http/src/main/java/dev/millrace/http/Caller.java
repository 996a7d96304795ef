package dev.millrace.http;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a request says of where it comes from and where it was meant to go.
 *
 * @param method in capitals
 * @param path without the query, normalized
 * @param hosts each value of the header Host, and the authority of an HTTP/2 request; none only from clients that are
 *     no browsers
 * @param origins each value of the header Origin
 * @param fetchSites each value of the header Sec-Fetch-Site
 * @param localAddress the address that the connection came in at; {@code null} = not known
 */
record Caller(
        String method,
        String path,
        List<String> hosts,
        List<String> origins,
        List<String> fetchSites,
        @Nullable String localAddress) {

    Caller {
        hosts = List.copyOf(hosts);
        origins = List.copyOf(origins);
        fetchSites = List.copyOf(fetchSites);
    }
}
