package dev.millrace.http;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A host and perhaps a port, as they stand in the header Host and in an origin.
 *
 * @param host a name in lower case, or an address in its one form; IPv6 without brackets
 * @param port {@code null} = the scheme's own
 */
record Authority(String host, @Nullable Integer port) {

    private static final Pattern FORM =
            Pattern.compile("(?:([a-zA-Z0-9_](?:[a-zA-Z0-9._-]{0,252}))|\\[([0-9a-fA-F:.]{2,45})])(?::([0-9]{1,5}))?");
    private static final String OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})";
    /** An IPv4 address; other spellings of one (127.1, 0x7f.1) are taken for names. */
    private static final Pattern IPV4 = Pattern.compile(OCTET + "(?:\\." + OCTET + "){3}");

    /** Reads one; empty if it is none. Asks no name service. */
    static Optional<Authority> parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            return Optional.empty();
        }
        Integer port = matcher.group(3) == null ? null : Integer.valueOf(matcher.group(3));
        String name = matcher.group(1);
        if (name == null) {
            return address(matcher.group(2)).map(address -> new Authority(canonical(address), port));
        }
        return Optional.of(new Authority(host(name), port));
    }

    /** The name in its one form: lower case, without the dot that stands for the root. */
    static String host(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        String bare = lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
        return IPV4.matcher(bare).matches()
                ? address(bare).map(Authority::canonical).orElse(bare)
                : bare;
    }

    /** The same with the port that stands for none in this scheme. */
    Authority in(String scheme) {
        return port != null ? this : new Authority(host, scheme.equals("https") ? 443 : 80);
    }

    /** Whether a connection to it cannot leave the machine. */
    boolean isLoopback() {
        return host.equals("localhost")
                || (isAddress()
                        && address(host).map(InetAddress::isLoopbackAddress).orElse(false));
    }

    /** Whether it is this address, in whatever form that is written. */
    boolean isAt(@Nullable String address) {
        return address != null
                && isAddress()
                && address(address.replaceFirst("%.*", ""))
                        .map(Authority::canonical)
                        .filter(host::equals)
                        .isPresent();
    }

    private boolean isAddress() {
        return host.indexOf(':') >= 0 || IPV4.matcher(host).matches();
    }

    private static Optional<InetAddress> address(String literal) {
        try {
            return literal.indexOf(':') >= 0 || IPV4.matcher(literal).matches()
                    ? Optional.of(InetAddress.getByName(literal))
                    : Optional.empty();
        } catch (UnknownHostException e) {
            return Optional.empty();
        }
    }

    private static String canonical(InetAddress address) {
        return address.getHostAddress();
    }
}
