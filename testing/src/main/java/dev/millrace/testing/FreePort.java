package dev.millrace.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Finds ports for processes that are told where to listen. */
public final class FreePort {

    private FreePort() {}

    /** A port of the loopback address that nobody listened on a moment ago. */
    public static int find() {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
