package dev.millrace.http;

/** Tells addresses of this machine alone from others. */
public final class Loopback {

    private Loopback() {}

    /** Whether who listens on this host cannot be reached from another machine. Asks no name service. */
    public static boolean is(String host) {
        return Authority.parse(host.indexOf(':') >= 0 ? '[' + host + ']' : host)
                .map(Authority::isLoopback)
                .orElse(false);
    }
}
