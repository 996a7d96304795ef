package dev.millrace.http.guarded;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import org.apache.hc.client5.http.DnsResolver;

/**
 * Resolves names, and gives out only addresses that a tool may talk to: public ones, unless the host is allowed by
 * configuration. The connection is made to the very addresses that were looked at, so a name that changes its mind
 * between the look and the connection gains nothing. Safe for any thread.
 */
final class AddressGuard implements DnsResolver {

    /** The host may not be talked to. */
    static final class RefusedAddressException extends UnknownHostException {
        private static final long serialVersionUID = 1L;

        RefusedAddressException(String host) {
            super("Host \"" + host + "\" is or leads to a private, local or reserved address");
        }
    }

    private final List<HostPattern> allowed;
    private final DnsResolver names;

    /**
     * A guard.
     *
     * @param allowed host names or addresses that are let through whatever they lead to; {@code *} stands for any text
     * @param names resolves names
     */
    AddressGuard(List<String> allowed, DnsResolver names) {
        this.allowed = allowed.stream()
                .map(String::strip)
                .filter(host -> !host.isEmpty())
                .map(HostPattern::new)
                .toList();
        this.names = names;
    }

    @Override
    public InetAddress[] resolve(String host) throws UnknownHostException {
        InetAddress[] addresses = names.resolve(host);
        boolean letThrough = allowed.stream().anyMatch(pattern -> pattern.matches(host));
        // one bad address refuses the host: a name with a public and a private address is a trap
        if (!letThrough && !Arrays.stream(addresses).allMatch(AddressGuard::isPublic)) {
            throw new RefusedAddressException(host);
        }
        return addresses;
    }

    @Override
    public String resolveCanonicalHostname(String host) {
        return host;
    }

    /** Whether an address is on the public network (IANA's special-purpose registries say which are not). */
    static boolean isPublic(InetAddress address) {
        if (address.isAnyLocalAddress()
                || address.isLoopbackAddress()
                || address.isLinkLocalAddress()
                || address.isSiteLocalAddress()
                || address.isMulticastAddress()) {
            return false;
        }
        return switch (address) {
            case Inet4Address v4 -> isPublic(v4.getAddress());
            case Inet6Address v6 -> isPublic(v6);
            default -> false;
        };
    }

    private static boolean isPublic(byte[] v4) {
        int a = v4[0] & 0xff;
        int b = v4[1] & 0xff;
        int c = v4[2] & 0xff;
        boolean special = a == 0 // this network
                || a == 10
                || a == 127
                || (a == 100 && b >= 64 && b <= 127) // carrier-grade NAT
                || (a == 169 && b == 254) // link-local, metadata services
                || (a == 172 && b >= 16 && b <= 31)
                || (a == 192 && b == 0 && (c == 0 || c == 2)) // protocol assignments, documentation
                || (a == 192 && b == 88 && c == 99) // 6to4 relays
                || (a == 192 && b == 168)
                || (a == 198 && (b == 18 || b == 19)) // benchmarks
                || (a == 198 && b == 51 && c == 100) // documentation
                || (a == 203 && b == 0 && c == 113) // documentation
                || a >= 224; // multicast, reserved, broadcast
        return !special;
    }

    private static boolean isPublic(Inet6Address address) {
        byte[] v6 = address.getAddress();
        int first = ((v6[0] & 0xff) << 8) | (v6[1] & 0xff);
        int second = ((v6[2] & 0xff) << 8) | (v6[3] & 0xff);
        if (isZero(v6, 0, 12) || (isZero(v6, 0, 10) && v6[10] == -1 && v6[11] == -1)) {
            return isPublic(Arrays.copyOfRange(v6, 12, 16)); // IPv4-compatible and IPv4-mapped
        }
        if (first == 0x0064 && second == 0xff9b) {
            return isPublic(Arrays.copyOfRange(v6, 12, 16)); // NAT64
        }
        if (first == 0x2002) {
            return isPublic(Arrays.copyOfRange(v6, 2, 6)); // 6to4
        }
        boolean globalUnicast = (first & 0xe000) == 0x2000;
        boolean teredoOrAssignments = first == 0x2001 && second < 0x0200;
        boolean documentation = (first == 0x2001 && second == 0x0db8) || (first == 0x3fff && (second & 0xf000) == 0);
        return globalUnicast && !teredoOrAssignments && !documentation;
    }

    private static boolean isZero(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] != 0) {
                return false;
            }
        }
        return true;
    }
}
