package dev.millrace.http.guarded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.http.guarded.AddressGuard.RefusedAddressException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import org.apache.hc.client5.http.DnsResolver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressGuardTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                // this network, loopback
                "0.0.0.0",
                "0.1.2.3",
                "127.0.0.1",
                "127.255.255.254",
                "::",
                "::1",
                // private
                "10.0.0.1",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "100.64.0.1",
                "100.127.255.255",
                "fd00::1",
                "fc00::1",
                // link-local and metadata services
                "169.254.169.254",
                "169.254.0.1",
                "fe80::1",
                "fd00:ec2::254",
                "fec0::1",
                // multicast, broadcast, reserved
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "ff02::1",
                "ff0e::1",
                // protocols, benchmarks, documentation
                "192.0.0.8",
                "192.0.2.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.7",
                "203.0.113.9",
                "192.88.99.1",
                "2001:db8::1",
                "3fff::1",
                "2001::1",
                "2001:10::1",
                "100::1",
                "5f00::1",
                // IPv4 inside IPv6
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "::127.0.0.1",
                "64:ff9b::127.0.0.1",
                "64:ff9b::a00:1",
                "64:ff9b:1::a00:1",
                "2002:7f00:1::",
                "2002:a00:1::1",
                "2002:a9fe:a9fe::1"
            })
    void shouldKnowWhatIsNotPublic(String address) throws UnknownHostException {
        assertThat(AddressGuard.isPublic(InetAddress.getByName(address))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1.1.1",
                "8.8.8.8",
                "9.255.255.255",
                "11.0.0.1",
                "100.63.255.255",
                "100.128.0.1",
                "126.0.0.1",
                "128.0.0.1",
                "169.253.0.1",
                "172.15.0.1",
                "172.32.0.1",
                "192.167.1.1",
                "198.17.0.1",
                "198.20.0.1",
                "223.255.255.255",
                "2606:4700::1111",
                "2a00:1450::1",
                "64:ff9b::808:808",
                "2002:808:808::1"
            })
    void shouldKnowWhatIsPublic(String address) throws UnknownHostException {
        assertThat(AddressGuard.isPublic(InetAddress.getByName(address))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2130706433",
                "127.1",
                "127.0.1",
                "0",
                "017700000001",
                "0177.0.0.1",
                "0x7f.0.0.1",
                "0x7f000001",
                "127.0.0.01",
                "00127.0.0.1",
                "127.0.0.1.",
                "localhost",
                "LOCALHOST",
                "localhost.",
                "::1%lo",
                "0:0:0:0:0:0:0:1",
                "0000::0001",
                "3232235777",
                "10.1",
                "192.168.257"
            })
    void shouldNotBeFooledByHowAnAddressIsWritten(String host) throws UnknownHostException {
        // given
        AddressGuard guard = new AddressGuard(List.of(), new LiteralsOnly());
        // when
        InetAddress[] letThrough;
        try {
            letThrough = guard.resolve(host);
        } catch (UnknownHostException e) {
            return;
        }
        // then
        assertThat(Arrays.stream(letThrough))
                .as("written unusually, and yet nobody's private address")
                .allMatch(AddressGuard::isPublic);
    }

    @Test
    void shouldRefuseANameWithOnePrivateAddressAmongPublicOnes() {
        // given
        AddressGuard guard = new AddressGuard(List.of(), names("8.8.8.8", "10.0.0.1"));
        // when / then
        assertThatThrownBy(() -> guard.resolve("trap.example")).isInstanceOf(RefusedAddressException.class);
    }

    @Test
    void shouldLookAgainAtEachResolution() throws UnknownHostException {
        // given
        FlippingNames names = new FlippingNames();
        AddressGuard guard = new AddressGuard(List.of(), names);
        // when
        InetAddress[] first = guard.resolve("rebind.example");
        // then
        assertThat(first).extracting(InetAddress::getHostAddress).containsExactly("8.8.8.8");
        assertThatThrownBy(() -> guard.resolve("rebind.example")).isInstanceOf(RefusedAddressException.class);
    }

    @Test
    void shouldLetThroughWhatIsAllowedAndNothingLikeIt() throws UnknownHostException {
        // given
        AddressGuard guard =
                new AddressGuard(List.of("wiki.corp.example", "*.lab.example", "10.1.2.3", " "), names("10.1.2.3"));
        // when / then
        assertThat(guard.resolve("wiki.corp.example")).hasSize(1);
        assertThat(guard.resolve("WIKI.corp.example")).hasSize(1);
        assertThat(guard.resolve("a.lab.example")).hasSize(1);
        assertThat(guard.resolve("10.1.2.3")).hasSize(1);
        for (String other : List.of(
                "wiki.corp.example.evil.example",
                "xwiki.corp.example",
                "wikixcorp.example",
                "lab.example",
                "a.lab.example.evil.example",
                "10.1.2.30",
                "")) {
            assertThatThrownBy(() -> guard.resolve(other)).as(other).isInstanceOf(RefusedAddressException.class);
        }
    }

    private static DnsResolver names(String... addresses) {
        return new DnsResolver() {
            @Override
            public InetAddress[] resolve(String host) throws UnknownHostException {
                InetAddress[] resolved = new InetAddress[addresses.length];
                for (int i = 0; i < addresses.length; i++) {
                    resolved[i] = InetAddress.getByName(addresses[i]);
                }
                return resolved;
            }

            @Override
            public String resolveCanonicalHostname(String host) {
                return host;
            }
        };
    }

    /** What the platform makes of a literal; asks no name server. */
    private static final class LiteralsOnly implements DnsResolver {
        @Override
        public InetAddress[] resolve(String host) throws UnknownHostException {
            if (host.toLowerCase(java.util.Locale.ROOT).startsWith("localhost")) {
                return new InetAddress[] {InetAddress.getLoopbackAddress()};
            }
            if (!host.matches("[0-9a-fA-Fx.:%lo]+") || host.endsWith(".") || host.contains("x")) {
                throw new UnknownHostException(host);
            }
            return InetAddress.getAllByName(host);
        }

        @Override
        public String resolveCanonicalHostname(String host) {
            return host;
        }
    }

    /** Public the first time, loopback ever after. */
    private static final class FlippingNames implements DnsResolver {
        private boolean asked;

        @Override
        public InetAddress[] resolve(String host) throws UnknownHostException {
            InetAddress address = InetAddress.getByName(asked ? "127.0.0.1" : "8.8.8.8");
            asked = true;
            return new InetAddress[] {address};
        }

        @Override
        public String resolveCanonicalHostname(String host) {
            return host;
        }
    }
}
