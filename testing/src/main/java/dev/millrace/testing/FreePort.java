package dev.millrace.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds ports for processes that are told where to listen. */
public final class FreePort {

    /** Below those that Linux and others give to whoever connects, who would take one before it is listened on. */
    private static final int FIRST = 15_000;

    private static final int LAST = 30_000;
    private static final int TRIES = 100;

    private FreePort() {}

    /** A port of the loopback address that nobody listened on a moment ago; another one each time, most likely. */
    public static int find() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return probe.getLocalPort();
            } catch (IOException e) {
                // somebody listens there
            }
        }
        throw new IllegalStateException(
                "expected a free port from " + FIRST + " to " + LAST + ", found none in " + TRIES + " tries");
    }
}
